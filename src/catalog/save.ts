import { join, posix } from 'node:path';
import { FolderAssets } from '../assets/store.ts';
import { ASSET_FOLDER, DEVICE_NAME } from '../base/assetNames.ts';
import { decodeBase64, isSurelyLarger } from '../base/base64.ts';
import { describeSize } from '../base/size.ts';
import { renderFileLink } from '../chat/edits/fileLink.ts';
import { detectMediaType, sniffBytes } from '../media/sniff.ts';
import { isAllowedType, isTextType, listTypes, type MediaType, mediaByExtension } from '../media/table.ts';
import type { AssetStore, NewAsset } from '../ports/results.ts';
import type { Catalog } from './catalog.ts';
import { type AssetEntry, CatalogRefusal, CHAT_ENDING, type ChatId } from './entry.ts';
import { recordSaved, SAVED_FILE } from './savedAssets.ts';
import type { Upload } from './toolSpecs.ts';

export interface UploadLimits {
  readonly maxBytes: number;
  readonly allowedMimeTypes: readonly string[];
}

export interface SavedUpload {
  readonly entry: AssetEntry;
  /** A link for the chat: `[quarterly.pdf](cmdassets/…)`. */
  readonly markdown: string;
  /** Problems that occurred although the file was saved. */
  readonly notes?: readonly string[];
}

interface UploadOptions extends UploadLimits {
  /** The name and version of the client. */
  readonly by?: string | undefined;
}

/** Keeps one store per folder, because a store remembers the contents of its folder. */
export class UploadStores {
  readonly #stores = new Map<string, AssetStore>();

  save(folder: string, asset: NewAsset): Promise<{ readonly path: string }> {
    const store = this.#stores.get(folder) ?? new FolderAssets({ folder });
    this.#stores.set(folder, store);
    return store.beginResult().save(asset);
  }
}

/** Rejects with a `CatalogRefusal` if nothing was written. */
export async function saveAsset(
  catalog: Catalog,
  upload: Upload,
  options: UploadOptions,
  stores: UploadStores,
): Promise<SavedUpload> {
  const { name } = upload;
  const problem = checkUploadName(name);
  if (problem !== undefined) throw new CatalogRefusal(`The file name is invalid: ${problem}.`);
  const { bytes, declared } = readUpload(upload, options);
  const { kind, extension, types } = await judge(upload, bytes, declared);
  checkType(types[0], options);
  const chat = upload.chat ?? onlyFolder(catalog);
  const folder = await catalog.folderOf(chat);
  const { path } = await stores.save(folder, { kind, extension, bytes }).catch((error: unknown) => {
    throw new CatalogRefusal(unsaved(name, folder, error));
  });
  const asset = posix.basename(path);
  const notes = await remember(folder, asset, { name, chat, by: options.by });
  const { entry } = await catalog.find({ kind: 'asset', chat, asset });
  if (entry.kind !== 'asset') throw new TypeError('the catalog found a chat in place of an asset');
  const markdown = renderFileLink({ label: name, target: path, isImage: kind === 'image' });
  return { entry: { ...entry, name }, markdown, ...notes };
}

/** The file is saved in any case; only its name and chat may be lost. */
async function remember(
  folder: string,
  asset: string,
  { name, chat, by }: { readonly name: string; readonly chat: ChatId; readonly by: string | undefined },
): Promise<Pick<SavedUpload, 'notes'>> {
  const own = chat.endsWith(CHAT_ENDING) ? posix.basename(chat) : undefined;
  try {
    await recordSaved(join(folder, ASSET_FOLDER), asset, { name, chat: own, by });
    return {};
  } catch {
    return { notes: [`${ASSET_FOLDER}/${SAVED_FILE} could not be written, so lists do not show this name.`] };
  }
}

function readUpload(
  { name, data, text }: Upload,
  { maxBytes }: UploadLimits,
): { readonly bytes: Uint8Array /** From a data: URL. */; readonly declared?: string | undefined } {
  if ((data === undefined) === (text === undefined))
    throw new CatalogRefusal('Give either data or text, not both.');
  const isLarger =
    data === undefined ? Buffer.byteLength(text ?? '') > maxBytes : isSurelyLarger(data, maxBytes);
  if (isLarger) throw tooLarge(name, maxBytes);
  if (text !== undefined && !text.isWellFormed())
    throw new CatalogRefusal(
      `${name} was not saved: its text contains an unpaired surrogate. Send it as data.`,
    );
  const read =
    data === undefined
      ? { ok: true as const, bytes: Buffer.from(text ?? ''), mimeType: undefined }
      : decodeBase64(data);
  if (!read.ok) throw new CatalogRefusal(`${name} was not saved: ${read.reason}.`);
  if (read.bytes.length === 0) throw new CatalogRefusal(`${name} was not saved: it is empty.`);
  if (read.bytes.length > maxBytes) throw tooLarge(name, maxBytes);
  return { bytes: read.bytes, declared: read.mimeType };
}

function tooLarge(name: string, maxBytes: number): CatalogRefusal {
  return new CatalogRefusal(
    `${name} was not saved: it is larger than the limit of ${describeSize(maxBytes)} (${maxBytes} bytes). The server’s option --max-upload-bytes sets this limit.`,
  );
}

/** Text of an unknown type is saved as plain text, whatever type was declared. */
async function judge(
  { name, mimeType, text }: Upload,
  bytes: Uint8Array,
  declared: string | undefined,
): Promise<MediaType> {
  const judged = await detectMediaType({ bytes, declared: mimeType ?? declared, uri: name, block: 'file' });
  if (text === undefined || isTextType(judged.types[0]) || (await sniffBytes(bytes))) return judged;
  return mediaByExtension('txt') ?? judged;
}

function checkType(type: string, { allowedMimeTypes }: UploadLimits): void {
  if (isAllowedType(type, allowedMimeTypes)) return;
  const allowed = listTypes(allowedMimeTypes);
  throw new CatalogRefusal(`It was not saved: it is ${type}. Allowed types: ${allowed}.`);
}

function onlyFolder({ labels }: Catalog): ChatId {
  if (labels.length === 0) return ASSET_FOLDER;
  const places = labels.map((label) => `${label}/${ASSET_FOLDER}`).join(', ');
  throw new CatalogRefusal(`There are several folders. Name a chat, or one of these folders: ${places}.`);
}

/** Messages of the system contain paths; those of the store do not. */
function unsaved(name: string, folder: string, error: unknown): string {
  const message = error instanceof Error ? error.message : '';
  const isPrivate = message === '' || message.includes(folder);
  return `${name} was not saved. ${isPrivate ? 'Its folder could not be written.' : message}`;
}

const MAX_NAME_CHARS = 120;

/** Names that some platform rejects or resolves elsewhere, and names that hide what they are. */
const RULES: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^$/, 'it is empty'],
  [/\p{Cs}/u, 'it contains an unpaired surrogate'],
  [/[/\\]/, 'it contains a slash: give one name, without folders'],
  [/:/, 'it contains a colon'],
  [/[\p{Cc}\u2028\u2029]/u, 'it contains a control character'],
  [/\p{Bidi_Control}/u, 'it contains a bidirectional control character'],
  [/^\./, 'it begins with a dot'],
  [/^\s/, 'it begins with a space'],
  [/[.\s]$/, 'it ends with a dot or a space'],
  [DEVICE_NAME, 'it is the name of a device'],
];

/** Returns undefined for a valid name. Invalid names are never repaired: the uploader knows the file by its name. */
export function checkUploadName(name: string): string | undefined {
  if (Array.from(name).length > MAX_NAME_CHARS) return `it is longer than ${MAX_NAME_CHARS} characters`;
  return RULES.find(([pattern]) => pattern.test(name))?.[1];
}
