import { ASSET_FOLDER, DEVICE_NAME, readAssetName } from '../base/names.ts';
import type { Address, ChatId } from './entry.ts';

/** The templates that servers announce. */
export const ASSET_TEMPLATE = 'filechat://{chat}/{asset}';
export const CHAT_TEMPLATE = 'filechat://{chat}';

/** What the name of a chat's file ends with. */
export const CHAT_ENDING = '.chat.md';

/** Folders below one that is given; more are neither looked into nor named. */
export const MAX_DEPTH = 12;

/** As the templates are expanded: everything but letters, digits and `-._~` behind percent signs. */
export function addressUri(address: Address): string {
  const chat = `${SCHEME}${encode(address.chat)}`;
  return address.kind === 'chat' ? chat : `${chat}/${encode(address.asset)}`;
}

/** What an address names, or why it names nothing. Looks at no disk and never throws. */
export function readAddress(uri: string): ReadAddress {
  if (uri.length > MAX_URI_CHARS) return refused(`it is longer than ${MAX_URI_CHARS} characters`);
  if (uri.slice(0, SCHEME.length).toLowerCase() !== SCHEME)
    return refused(`it does not begin with ${SCHEME}`);
  const rest = uri.slice(SCHEME.length);
  const sign = UNFIT_SIGNS.find(({ pattern }) => pattern.test(rest));
  if (sign) return refused(sign.reason);
  const [written = '', writtenAsset, ...more] = rest.split('/');
  if (more.length > 0)
    return refused('it has more than two parts; the slashes of a chat’s path are written %2F');
  const chat = decode(written);
  const asset = writtenAsset === undefined ? undefined : decode(writtenAsset);
  if (chat === undefined || (writtenAsset !== undefined && asset === undefined))
    return refused('what stands behind a percent sign in it means nothing');
  return read(chat, asset);
}

export type ReadAddress =
  | { readonly ok: true; readonly address: Address }
  | { readonly ok: false; readonly reason: string };

/** Why an id names neither a chat nor a place of assets; nothing when it does. */
export function chatIdProblem(id: ChatId): string | undefined {
  if (id.length > MAX_ID_CHARS) return `its path is longer than ${MAX_ID_CHARS} characters`;
  const folders = id.split('/');
  const last = folders.pop() ?? '';
  // One more for the label of a folder.
  if (folders.length > MAX_DEPTH + 1) return 'it is in too many folders';
  const problem = folders.map(folderNameProblem).find((each) => each !== undefined) ?? nameProblem(last);
  if (problem !== undefined) return problem;
  return last === ASSET_FOLDER || last.endsWith(CHAT_ENDING)
    ? undefined
    : `the path of a chat ends with ${CHAT_ENDING}, and that of files without a chat with ${ASSET_FOLDER}`;
}

/** Why a folder of this name is not entered when chats are looked for; nothing when it is. */
export function folderNameProblem(name: string): string | undefined {
  return UNENTERED.has(name.toLowerCase()) ? `no chats are looked for in ${name}` : nameProblem(name);
}

export function isAssetFileName(name: string): boolean {
  return name.length <= MAX_NAME_CHARS && readAssetName(name) !== undefined;
}

const SCHEME = 'filechat://';
const MAX_ID_CHARS = 1_000;
const MAX_NAME_CHARS = 255;
/** A character may take nine when it is encoded. */
const MAX_URI_CHARS = 10_000;

const UNENTERED = new Set(['node_modules', ASSET_FOLDER]);

interface Unfit {
  readonly pattern: RegExp;
  readonly reason: string;
}

/** What means something else in an address, or nothing, unless it is encoded. */
const UNFIT_SIGNS: readonly Unfit[] = [
  { pattern: /[?#]/, reason: 'it has a query or a fragment' },
  { pattern: /@/, reason: 'it names a user' },
  { pattern: /[:[\]]/, reason: 'it holds a port or a colon' },
];

/** Names that are no names everywhere, that mean another place somewhere, or that hide what they are. */
const UNFIT_NAMES: readonly Unfit[] = [
  { pattern: /^$/, reason: 'a part of its path is empty' },
  { pattern: /^\./, reason: 'a name in it begins with a dot' },
  { pattern: /^~/, reason: 'a name in it begins with a tilde' },
  { pattern: /[. ]$/, reason: 'a name in it ends with a dot or a space' },
  { pattern: /[\p{Cc}\p{Cs}]/u, reason: 'it holds characters that are none' },
  { pattern: /\\/, reason: 'it holds a backslash' },
  { pattern: /:/, reason: 'it holds a colon' },
  { pattern: /%[0-9A-Fa-f]{2}/, reason: 'it is encoded twice' },
  { pattern: DEVICE_NAME, reason: 'it names a device' },
];

function nameProblem(name: string): string | undefined {
  if (name.length > MAX_NAME_CHARS) return `a name in it is longer than ${MAX_NAME_CHARS} characters`;
  return UNFIT_NAMES.find(({ pattern }) => pattern.test(name))?.reason;
}

function read(chat: string, asset: string | undefined): ReadAddress {
  const problem = chatIdProblem(chat);
  if (problem !== undefined) return refused(problem);
  if (asset === undefined) {
    if (!chat.endsWith(CHAT_ENDING)) return refused('it names a place of assets, and none of them');
    return { ok: true, address: { kind: 'chat', chat } };
  }
  if (!isAssetFileName(asset)) return refused('its last part is not the name of an asset');
  return { ok: true, address: { kind: 'asset', chat, asset } };
}

function refused(why: string): ReadAddress {
  return { ok: false, reason: `This is no address of a chat or an asset: ${why}.` };
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
