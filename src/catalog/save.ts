import { posix } from 'node:path';
import { isAllowedType } from '../assets/chatFiles.ts';
import { FolderAssets } from '../assets/store.ts';
import { decodeBase64, isSurelyLarger } from '../base/base64.ts';
import { ASSET_FOLDER, DEVICE_NAME } from '../base/names.ts';
import { describeSize } from '../base/size.ts';
import { renderFileLink } from '../chat/edits/fileLink.ts';
import { detectMediaType, sniffBytes } from '../media/sniff.ts';
import { isTextType, type MediaType, mediaByExtension } from '../media/table.ts';
import type { AssetStore, NewAsset } from '../ports/results.ts';

import type { Catalog } from './catalog.ts';
import { type AssetEntry, CatalogRefusal, type ChatId } from './entry.ts';

export interface Upload {
  /** Beside which chat; nothing when there is but one folder and it should be in the `cmdassets/` of that. */
  readonly chat?: ChatId | undefined;
  /** What it is called: one name, without folders. */
  readonly name: string;
  readonly mimeType?: string | undefined;
  /** One of the two. */
  readonly data?: string | undefined;
  readonly text?: string | undefined;
}

export interface UploadLimits {
  readonly maxBytes: number;
  readonly allowedMimeTypes: readonly string[];
}

export interface SavedUpload {
  readonly entry: AssetEntry;
  /** Ready to be written into the chat: `[quarterly.pdf](cmdassets/…)`. */
  readonly markdown: string;
}

/** One store for each folder: it remembers what the folder holds. Keep one of these as long as the catalog. */
export class UploadStores {
  readonly #folders = new Map<string, { readonly store: AssetStore; last: Promise<unknown> }>();

  /** One after the other, so that the same bytes are found even when they come twice at once. */
  save(folder: string, asset: NewAsset): Promise<{ readonly path: string }> {
    const known = this.#folders.get(folder) ?? {
      store: new FolderAssets({ folder }),
      last: Promise.resolve(),
    };
    this.#folders.set(folder, known);
    const saved = known.last.then(() => known.store.beginResult().save(asset));
    known.last = saved.catch(() => undefined);
    return saved;
  }
}

/** Rejects with a `CatalogRefusal`; then nothing was written. */
export async function saveAsset(
  catalog: Catalog,
  upload: Upload,
  limits: UploadLimits,
  stores: UploadStores,
): Promise<SavedUpload> {
  const { name } = upload;
  const problem = checkUploadName(name);
  if (problem !== undefined) throw new CatalogRefusal(`The name of the file cannot be used: ${problem}.`);
  const { bytes, declared } = readUpload(upload, limits);
  const { kind, extension, types } = await judge(upload, bytes, declared);
  checkType(types[0] ?? '', limits);
  const chat = upload.chat ?? onlyFolder(catalog);
  const folder = await catalog.folderOf(chat);
  const { path } = await stores.save(folder, { kind, extension, bytes }).catch((error: unknown) => {
    throw new CatalogRefusal(unsaved(name, folder, error));
  });
  const { entry } = await catalog.find({ kind: 'asset', chat, asset: posix.basename(path) });
  if (entry.kind !== 'asset') throw new TypeError('the catalog found a chat in place of an asset');
  const markdown = renderFileLink({ label: name, target: path, isImage: kind === 'image' });
  return { entry: { ...entry, name }, markdown };
}

interface UploadedBytes {
  readonly bytes: Uint8Array;
  /** By a data: URL. */
  readonly declared?: string | undefined;
}

function readUpload({ name, data, text }: Upload, { maxBytes }: UploadLimits): UploadedBytes {
  if ((data === undefined) === (text === undefined))
    throw new CatalogRefusal('Give either data or text, and not both.');
  const read = data === undefined ? readText(name, text ?? '', maxBytes) : readData(name, data, maxBytes);
  if (read.bytes.length === 0) throw new CatalogRefusal(`${name} was not saved: it is empty.`);
  if (read.bytes.length > maxBytes) throw tooLarge(name, maxBytes);
  return read;
}

function readText(name: string, text: string, maxBytes: number): UploadedBytes {
  if (Buffer.byteLength(text) > maxBytes) throw tooLarge(name, maxBytes);
  if (!text.isWellFormed())
    throw new CatalogRefusal(`${name} was not saved: its text holds half a character. Send it as data.`);
  return { bytes: Buffer.from(text) };
}

function readData(name: string, data: string, maxBytes: number): UploadedBytes {
  if (isSurelyLarger(data, maxBytes)) throw tooLarge(name, maxBytes);
  const decoded = decodeBase64(data);
  if (!decoded.ok) throw new CatalogRefusal(`${name} was not saved: ${decoded.reason}.`);
  return { bytes: decoded.bytes, declared: decoded.mimeType };
}

function tooLarge(name: string, maxBytes: number): CatalogRefusal {
  return new CatalogRefusal(
    `${name} was not saved: it is larger than ${describeSize(maxBytes)} (${maxBytes} bytes), the most that may be saved.`,
  );
}

/** Text that nothing else is known of is a plain one, whatever it claims to be. */
async function judge(
  { name, mimeType, text }: Upload,
  bytes: Uint8Array,
  declared: string | undefined,
): Promise<MediaType> {
  const judged = await detectMediaType({ bytes, declared: mimeType ?? declared, uri: name, block: 'file' });
  if (text === undefined || isTextType(judged.types[0] ?? '') || (await sniffBytes(bytes))) return judged;
  return mediaByExtension('txt') ?? judged;
}

function checkType(type: string, { allowedMimeTypes }: UploadLimits): void {
  if (isAllowedType(type, allowedMimeTypes)) return;
  const allowed = allowedMimeTypes.join(', ') || 'nothing';
  throw new CatalogRefusal(`It was not saved: it is ${type}, and only ${allowed} may be saved.`);
}

/** The place for files that are of no chat. */
function onlyFolder({ labels }: Catalog): ChatId {
  if (labels.length === 0) return ASSET_FOLDER;
  const places = labels.map((label) => `${label}/${ASSET_FOLDER}`).join(', ');
  throw new CatalogRefusal(`There are several folders. Say beside which chat, or one of these: ${places}.`);
}

/** The store's own words; those of the system name paths. */
function unsaved(name: string, folder: string, error: unknown): string {
  const said = error instanceof Error ? error.message : '';
  return `${name} was not saved. ${said === '' || said.includes(folder) ? 'Its folder did not take it.' : said}`;
}

const MAX_NAME_CHARS = 120;

/** Names that are no names somewhere, that lead elsewhere, or that hide what they are. */
const RULES: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^$/, 'it is empty'],
  [/\p{Cs}/u, 'it holds half a character'],
  [/[/\\]/, 'it holds a slash: give one name, without folders'],
  [/:/, 'it holds a colon'],
  [/[\p{Cc}\u2028\u2029]/u, 'it holds a control character'],
  [/\p{Bidi_Control}/u, 'it holds a character that turns the direction of writing'],
  [/^\./, 'it begins with a dot'],
  [/^\s/, 'it begins with a space'],
  [/[.\s]$/, 'it ends with a dot or a space'],
  [DEVICE_NAME, 'it is the name of a device'],
];

/** Why a file cannot be called so; nothing when it can. A name is never repaired: its owner knows it by the other one. */
export function checkUploadName(name: string): string | undefined {
  if (Array.from(name).length > MAX_NAME_CHARS) return `it is longer than ${MAX_NAME_CHARS} characters`;
  return RULES.find(([pattern]) => pattern.test(name))?.[1];
}
