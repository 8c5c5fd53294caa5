/** A string value that is, or could become, a reference to a file of the chat. */
export interface AssetTyped {
  /** Without the quotes. */
  readonly start: number;
  readonly end: number;
  /** Up to the cursor. */
  readonly typed: string;
}

const OPEN_STRING = /[:[,]\s*"([\w.:-]{0,200})$/;
/** Enough for a name and what stands before it. */
const LOOKED_AT_CHARS = 300;

/** What of such a string stands before the cursor and behind it; nothing where the cursor is elsewhere. */
export function assetTyped(json: string, offset: number): AssetTyped | undefined {
  const typed = OPEN_STRING.exec(json.slice(Math.max(0, offset - LOOKED_AT_CHARS), offset))?.[1];
  if (typed === undefined || !(typed.startsWith('asset:') || 'asset:'.startsWith(typed))) return undefined;
  const rest = /^[\w.:-]*(?=")/.exec(json.slice(offset, offset + LOOKED_AT_CHARS))?.[0] ?? '';
  return { start: offset - typed.length, end: offset + rest.length, typed };
}
