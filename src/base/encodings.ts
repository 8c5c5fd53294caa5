/** Control characters that no text has, except for an escape sequence of a terminal. */
const CONTROLS = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/;

/**
 * Text that is not UTF-8: UTF-16 with a byte order mark, the encoding that it declares, or Windows-1252, which older
 * programs write. Undefined if the bytes cannot be text.
 */
export function decodeOtherText(bytes: Uint8Array, declared?: string): string | undefined {
  const marked = MARKS.find(([, first, second]) => bytes[0] === first && bytes[1] === second)?.[0];
  const text = decoderFor(marked ?? declared).decode(bytes);
  return CONTROLS.test(text) ? undefined : text;
}

const MARKS = [
  ['utf-16le', 0xff, 0xfe],
  ['utf-16be', 0xfe, 0xff],
] as const;

function decoderFor(encoding = 'windows-1252') {
  try {
    return new TextDecoder(encoding);
  } catch {
    return new TextDecoder('windows-1252');
  }
}
