import { ASSET_FOLDER, DEVICE_NAME, readAssetName } from '../base/assetNames.ts';
import { visibleLine } from '../base/lines.ts';
import { describeSize } from '../base/size.ts';
import { isTextType, mediaByType } from '../media/table.ts';
import { estimateFile } from '../model/request/estimate.ts';
import type { AssetKind } from '../ports/results.ts';

/**
 * `notes/sales.chat.md`, or `notes/cmdassets` for files that no chat mentions. When several folders are served, it
 * begins with the label of one of them.
 */
export type ChatId = string;

export type Address =
  | { readonly kind: 'chat'; readonly chat: ChatId }
  | { readonly kind: 'asset'; readonly chat: ChatId; readonly asset: string };

interface Listed {
  readonly uri: string;
  readonly chat: ChatId;
  readonly size: number;
  readonly changed: Date;
  readonly mimeType: string;
}

export interface ChatEntry extends Listed {
  readonly kind: 'chat';
  /** From its front matter, its first words or its file name. */
  readonly title: string;
}

export interface AssetEntry extends Listed {
  readonly kind: 'asset';
  readonly asset: string;
  readonly assetKind: AssetKind;
  /** The label in the chat: `quarterly.pdf` of `[Tool generated file 1: quarterly.pdf](…)`. */
  readonly name?: string;
  /** The tool that returned it, as `server.tool`. */
  readonly tool?: string;
  /** The client that saved it: `claude-ai 1.2.0`. */
  readonly savedBy?: string;
}

export type Entry = ChatEntry | AssetEntry;

/** The path is never shown to clients. */
export interface FoundEntry {
  readonly entry: Entry;
  readonly path: string;
}

/** A failure with a message for the client. The message contains no paths. */
export class CatalogRefusal extends Error {}

/** What is larger than either of these is not `autoReadSafe`. */
export interface ReadThresholds {
  readonly maxInlineBytes: number;
  readonly maxTokens: number;
}

export const READ_THRESHOLDS: ReadThresholds = { maxInlineBytes: 1024 * 1024, maxTokens: 10_000 };

/** `autoReadSafe`: small enough to read without asking. */
export function readingCost(
  file: { readonly mimeType: string; readonly size: number },
  { maxInlineBytes, maxTokens }: ReadThresholds = READ_THRESHOLDS,
) {
  const estimatedTokens = estimateReading(file);
  const autoReadSafe = file.size <= maxInlineBytes && estimatedTokens <= maxTokens;
  return { estimatedTokens, autoReadSafe, largeFileWarning: !autoReadSafe };
}

export function entryMeta(
  entry: Pick<Entry, 'mimeType' | 'size' | 'changed'>,
  thresholds: ReadThresholds = READ_THRESHOLDS,
) {
  const { size, mimeType, changed } = entry;
  return { size, mimeType, lastModified: changed.toISOString(), ...readingCost(entry, thresholds) };
}

/** “PNG image, 12.3 KB, about 400 tokens. Returned by charts.bar in notes/sales.chat.md.” */
export function describeEntry(entry: Entry, thresholds: ReadThresholds = READ_THRESHOLDS): string {
  const { estimatedTokens, largeFileWarning } = readingCost(entry, thresholds);
  const tokens = `about ${estimatedTokens.toLocaleString('en-US')} tokens`;
  const what = `${entry.kind === 'chat' ? 'Chat' : describeType(entry)}, ${describeSize(entry.size)}`;
  const facts = largeFileWarning ? what : `${what}, ${tokens}`;
  const origin = entry.kind === 'asset' ? ` ${describeOrigin(entry)}` : '';
  const warning = largeFileWarning ? ` Large file: ${tokens}. Read it in windows with read_asset.` : '';
  return `${facts}.${origin}${warning}`;
}

export function entryTitle(entry: ChatEntry | AssetEntry): string {
  return entry.kind === 'chat' ? entry.title : (entry.name ?? entry.asset);
}

const TEXT_BYTES_PER_TOKEN = 4;
/** Base64 tokenizes badly. */
const BASE64_CHARS_PER_TOKEN = 2;

function estimateReading({ mimeType, size }: { readonly mimeType: string; readonly size: number }): number {
  if (isTextType(mimeType)) return Math.ceil(size / TEXT_BYTES_PER_TOKEN);
  if (mimeType.startsWith('image/')) return estimateFile({ mimeType, size });
  return Math.ceil((4 * Math.ceil(size / 3)) / BASE64_CHARS_PER_TOKEN);
}

const NOUNS: readonly (readonly [type: RegExp, noun: string])[] = [
  [/^image\//, 'image'],
  [/^audio\//, 'audio'],
  [/^video\//, 'video'],
  [/^font\//, 'font'],
  [/^text\/(?:plain|markdown)$/, 'text'],
  [/^application\/pdf$/, 'document'],
];

function describeType({ mimeType }: AssetEntry): string {
  const extension = mediaByType(mimeType)?.extension.toUpperCase();
  if (extension === undefined) return 'File of an unknown type';
  const noun = NOUNS.find(([type]) => type.test(mimeType))?.[1] ?? 'file';
  return `${extension} ${noun}`;
}

/** Paths and tool names are untrusted text. */
function describeOrigin({ chat, tool, savedBy }: AssetEntry): string {
  const place = visibleLine(chat);
  if (tool !== undefined) return `Returned by ${visibleLine(tool)} in ${place}.`;
  if (savedBy !== undefined) return `Saved by ${visibleLine(savedBy)} in ${place}.`;
  return chat.endsWith(CHAT_ENDING) ? `Of ${place}.` : `In ${place}; no chat mentions it.`;
}

export const ASSET_TEMPLATE = 'filechat://{chat}/{asset}';
export const CHAT_TEMPLATE = 'filechat://{chat}';

export const CHAT_ENDING = '.chat.md';

/** Deeper folders are neither searched nor addressable. */
export const MAX_DEPTH = 12;

/** Expands the templates: percent-encodes everything but letters, digits and `-._~`. */
export function addressUri(address: Address): string {
  const chat = `${SCHEME}${encode(address.chat)}`;
  return address.kind === 'chat' ? chat : `${chat}/${encode(address.asset)}`;
}

/** Parses an address without touching the disk. Never throws. */
export function readAddress(uri: string): ReadAddress {
  if (uri.length > MAX_URI_CHARS) return refused(`it is longer than ${MAX_URI_CHARS} characters`);
  if (uri.slice(0, SCHEME.length).toLowerCase() !== SCHEME)
    return refused(`it does not begin with ${SCHEME}`);
  const rest = uri.slice(SCHEME.length);
  const reserved = RESERVED_CHARACTERS.find(([pattern]) => pattern.test(rest));
  if (reserved) return refused(reserved[1]);
  const [encodedChat = '', encodedAsset, ...more] = rest.split('/');
  if (more.length > 0)
    return refused('it has more than two parts; write the slashes of a chat’s path as %2F');
  const chat = decode(encodedChat);
  const asset = encodedAsset === undefined ? undefined : decode(encodedAsset);
  if (chat === undefined || (encodedAsset !== undefined && asset === undefined))
    return refused('its percent-encoding is invalid');
  return validate(chat, asset);
}

type ReadAddress =
  | { readonly ok: true; readonly address: Address }
  | { readonly ok: false; readonly reason: string };

/** Returns undefined for a valid id of a chat or of a `cmdassets/`. */
export function chatIdProblem(id: ChatId): string | undefined {
  if (id.length > MAX_ID_CHARS) return `its path is longer than ${MAX_ID_CHARS} characters`;
  const folders = id.split('/');
  const last = folders.pop() ?? '';
  // One more, because ids may begin with the label of a root.
  if (folders.length > MAX_DEPTH + 1) return 'it is in too many folders';
  const problem = folders.map(folderNameProblem).find((each) => each !== undefined) ?? nameProblem(last);
  if (problem !== undefined) return problem;
  return last === ASSET_FOLDER || last.endsWith(CHAT_ENDING)
    ? undefined
    : `the path of a chat ends with ${CHAT_ENDING}, and that of files without a chat with ${ASSET_FOLDER}`;
}

/** Returns undefined for folders that are searched for chats. */
export function folderNameProblem(name: string): string | undefined {
  return SKIPPED_FOLDERS.has(name.toLowerCase()) ? `${name} is not searched for chats` : nameProblem(name);
}

export function isAssetFileName(name: string): boolean {
  return name.length <= MAX_NAME_CHARS && readAssetName(name) !== undefined;
}

const SCHEME = 'filechat://';
const MAX_ID_CHARS = 1_000;
const MAX_NAME_CHARS = 255;
/** A character may take nine when it is encoded. */
const MAX_URI_CHARS = 10_000;

const SKIPPED_FOLDERS = new Set(['node_modules', ASSET_FOLDER]);

type Rule = readonly [pattern: RegExp, reason: string];

/** These have a meaning of their own in a URI unless they are encoded. */
const RESERVED_CHARACTERS: readonly Rule[] = [
  [/[?#]/, 'it has a query or a fragment'],
  [/@/, 'it has user information'],
  [/[:[\]]/, 'it has a port or a colon'],
];

/** Names that some platform rejects or resolves elsewhere, and names that hide what they are. */
const INVALID_NAMES: readonly Rule[] = [
  [/^$/, 'a part of its path is empty'],
  [/^\./, 'a name in it begins with a dot'],
  [/^~/, 'a name in it begins with a tilde'],
  [/[. ]$/, 'a name in it ends with a dot or a space'],
  [/[\p{Cc}\p{Cs}]/u, 'it contains control characters or unpaired surrogates'],
  [/\\/, 'it contains a backslash'],
  [/:/, 'it contains a colon'],
  [/%[0-9A-Fa-f]{2}/, 'it is encoded twice'],
  [DEVICE_NAME, 'it is the name of a device'],
];

function nameProblem(name: string): string | undefined {
  if (name.length > MAX_NAME_CHARS) return `a name in it is longer than ${MAX_NAME_CHARS} characters`;
  return INVALID_NAMES.find(([pattern]) => pattern.test(name))?.[1];
}

function validate(chat: string, asset: string | undefined): ReadAddress {
  const problem = chatIdProblem(chat);
  if (problem !== undefined) return refused(problem);
  if (asset === undefined) {
    if (!chat.endsWith(CHAT_ENDING)) return refused('it names a folder of assets, not an asset in it');
    return { ok: true, address: { kind: 'chat', chat } };
  }
  if (!isAssetFileName(asset)) return refused('its last part is not the name of an asset');
  return { ok: true, address: { kind: 'asset', chat, asset } };
}

function refused(reason: string): ReadAddress {
  return { ok: false, reason: `This is not the address of a chat or an asset: ${reason}.` };
}

function encode(text: string): string {
  return encodeURIComponent(text.toWellFormed()).replace(
    /[!'()*]/g,
    (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`,
  );
}

function decode(text: string): string | undefined {
  try {
    return decodeURIComponent(text);
  } catch {
    return undefined;
  }
}
