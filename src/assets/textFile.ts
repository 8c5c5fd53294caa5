import { isTextType } from '../media/table.ts';
import type { LookedAt } from './confined.ts';

const UNKNOWN_TYPE = 'application/octet-stream';

/** What no table knows is text if it reads as text: a Makefile, a `.rs`, a `.toml`. */
export function judgeText({ head, size, mimeType }: LookedAt): {
  readonly mimeType: string;
  readonly isText: boolean;
} {
  const claimsText = isTextType(mimeType);
  if (!claimsText && mimeType !== UNKNOWN_TYPE) return { mimeType, isText: false };
  if (readText(head, { isCut: size > head.length }) === undefined)
    return { mimeType: UNKNOWN_TYPE, isText: false };
  return { mimeType: claimsText ? mimeType : 'text/plain', isText: true };
}

/** Bytes as text, with every mark that they begin with; nothing where they are no UTF-8 or hold a NUL. */
export function readText(bytes: Uint8Array, { isCut = false } = {}): string | undefined {
  try {
    // A character may be cut in two where the bytes end.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}
