import { ASSET_FOLDER, DEVICE_NAME, readAssetName } from '../base/names.ts';
import type { Address, ChatId } from './entry.ts';

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

export type ReadAddress =
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
