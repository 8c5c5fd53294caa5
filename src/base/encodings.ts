/** Control characters that no text has, except for an escape sequence of a terminal. */
const CONTROLS = /[\u0000-\u0008\u000e-\u001a\u001c-\u001f]/;

/**
 * Text that is not UTF-8: UTF-16, without a byte order mark only if most of its characters are Latin; the encoding that
 * it declares, or whose script all of its words are in; or Windows-1252, which older programs write. Undefined if the
 * bytes cannot be text.
 */
export function decodeOtherText(bytes: Uint8Array): string | undefined {
  const text = decoderFor(knownEncoding(bytes)).decode(bytes);
  return CONTROLS.test(text) ? undefined : text;
}

/** Whether the text is read as Windows-1252, but has words that no language writes so. */
export function isEncodingUnknown(bytes: Uint8Array): boolean {
  return knownEncoding(bytes) === undefined && GARBLED.test(decoderFor().decode(bytes));
}

const GARBLED = /[^\0-\x7f]{5}|\p{L}[^\0-\x7f\p{L}’·…–—\xa0\xad]\p{L}/u;

function knownEncoding(bytes: Uint8Array): string | undefined {
  const marked = MARKS.find(([, first, second]) => bytes[0] === first && bytes[1] === second)?.[0];
  return marked ?? declared(bytes) ?? unmarked(bytes) ?? guess(bytes);
}

/** As XML, HTML, and Python and Emacs declare it, where browsers look for it. */
function declared(bytes: Uint8Array): string | undefined {
  const head = new TextDecoder('latin1').decode(bytes.subarray(0, 1024));
  return /(?:<\?xml\b[^>]*\bencoding|<meta\b[^>]*\bcharset)\s*=\s*["']?([\w-]+)|^\W.*\bcoding[:=]\s*([\w-]+)/im
    .exec(head)
    ?.slice(1)
    .find((encoding) => encoding !== undefined);
}

const WORDS =
  /^(?:(?<![A-Za-z])(?:[А-ЯЁІЇЄҐ]?[а-яёіїєґ]+|[А-ЯЁІЇЄҐ]+)(?![A-Za-zА-яЁёІіЇїЄєҐґ])|[\0-\x7f\xa0«»„“”–—…№])*$/;
const KANA = /^(?=[\s\S]*[ぁ-ヺ])[\0-\x7f\u2010-\u266f\u3000-\u30ff一-鿿\uff00-\uff9f]*$/;
const HANGUL = /^[\0-\x7f·…‘’“”\u3000-\u303f가-힣\uff00-\uff60]*$/;
const HAN = /^[\0-\x7f·…‘’“”—\u3000-\u303f一-鿿\uff00-\uff60]*$/;

/** The first whose pattern matches: Chinese bytes can also be read as Cyrillic or Korean, but not in whole words. */
const SCRIPTS = [
  ['euc-jp', KANA],
  ['shift_jis', KANA],
  ['windows-1251', WORDS],
  ['koi8-r', WORDS],
  ['ibm866', WORDS],
  ['euc-kr', HANGUL],
  ['gb18030', HAN],
  ['big5', HAN],
] as const;

const MAX_GUESSED_BYTES = 4096;

/** Only for text with words of other letters: Latin ones have few in a row. */
function guess(bytes: Uint8Array): string | undefined {
  const start = Math.max(
    0,
    bytes.findIndex((byte) => byte > 0x7f),
  );
  const head = bytes.subarray(start, start + MAX_GUESSED_BYTES);
  const isCut = start + head.length < bytes.length;
  const words = Buffer.from(head)
    .toString('latin1')
    .split(/[\0-\x7f]+/);
  const long = words.filter(({ length }) => length > 2).join('');
  if (long === '' || long.length * 3 < words.join('').length) return undefined;
  return SCRIPTS.find(([encoding, pattern]) => {
    try {
      return pattern.test(new TextDecoder(encoding, { fatal: true }).decode(head, { stream: isCut }));
    } catch {
      return false;
    }
  })?.[0];
}

const MARKS = [
  ['utf-16le', 0xff, 0xfe],
  ['utf-16be', 0xfe, 0xff],
] as const;

/** Latin letters in UTF-16 have a zero in every other byte, and other text has none. */
function unmarked(bytes: Uint8Array): string | undefined {
  if (bytes.length % 2 !== 0) return undefined;
  const head = [...bytes.subarray(0, 1024)];
  const zerosAt = (rest: number) => head.filter((byte, at) => byte === 0 && at % 2 === rest).length;
  const [even, odd] = [zerosAt(0), zerosAt(1)];
  if (even + odd < head.length / 4 || (even > 0 && odd > 0)) return undefined;
  return odd > 0 ? 'utf-16le' : 'utf-16be';
}

function decoderFor(encoding = 'windows-1252') {
  try {
    return new TextDecoder(encoding);
  } catch {
    return new TextDecoder('windows-1252');
  }
}
