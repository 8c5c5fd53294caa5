import fc from 'fast-check';

const SURROGATES = { from: 0xd800, count: 0x800 };

/**
 * Every code point but the surrogates, for `unit` of `fc.string`. `'binary'` is the same, but first builds a map of
 * all of them, which takes longer than most files of tests.
 */
export const anySign = fc
  .nat({ max: 0x10ffff - SURROGATES.count })
  .map((place) => String.fromCodePoint(place < SURROGATES.from ? place : place + SURROGATES.count), placeOf);

function placeOf(sign: unknown): number {
  const code = typeof sign === 'string' ? sign.codePointAt(0) : undefined;
  if (code === undefined || String.fromCodePoint(code) !== sign) throw new Error('This is not one sign.');
  if (code < SURROGATES.from) return code;
  if (code < SURROGATES.from + SURROGATES.count) throw new Error('This is half a sign.');
  return code - SURROGATES.count;
}
