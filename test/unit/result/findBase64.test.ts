import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { findBase64, type Piece } from '../../../src/result/findBase64.ts';
import { countTurns } from '../../kit/countTurns.ts';
import { png } from './samples.ts';

const NOISE = createNoise(3001);
const PICTURE = png(2, 2, NOISE.subarray(0, 2000));
const BASE64 = PICTURE.toString('base64');

/** The same bytes at every run. */
function createNoise(length: number): Buffer {
  const blocks = Array.from({ length: Math.ceil(length / 32) }, (_, at) =>
    createHash('sha256').update(String(at)).digest(),
  );
  return Buffer.concat(blocks).subarray(0, length);
}

/** As PHP writes JSON. */
const php = (value: unknown) => JSON.stringify(value).replaceAll('/', '\\/');
const wrap = (text: string, width: number, end = '\n') =>
  text.replace(new RegExp(`.{${width}}`, 'g'), `$&${end}`);

/** The remaining text, with the hash of the bytes in their place. */
function show(pieces: readonly Piece[]): string {
  return pieces
    .map((piece) => {
      if (typeof piece === 'string') return piece;
      if (piece.kind !== 'bytes' || !(piece.bytes instanceof Uint8Array)) return assert.fail();
      const name = Buffer.compare(piece.bytes, PICTURE) === 0 ? 'PICTURE' : `${piece.bytes.length} BYTES`;
      return `<${[name, piece.declared, piece.label].filter((each) => each !== undefined).join(' ')}>`;
    })
    .join('');
}

describe('base64 is found', () => {
  const cases: Readonly<Record<string, [text: string, expected: string]>> = {
    alone: [BASE64, '<PICTURE>'],
    'alone, between blank lines': [`\n ${BASE64}\n\n`, '\n <PICTURE>\n\n'],
    'alone, in lines of 76': [wrap(BASE64, 76), '<PICTURE>'],
    'alone, in lines of 60 with CRLF': [wrap(BASE64, 60, '\r\n'), '<PICTURE>'],
    'alone, URL-safe and unpadded': [PICTURE.toString('base64url'), '<PICTURE>'],
    'as a data: URL': [`data:image/png;base64,${BASE64}`, '<PICTURE image/png>'],
    'as a data: URL with parameters': [
      `See data:image/png;name=a.png;base64,${BASE64}.`,
      'See <PICTURE image/png>.',
    ],
    'as an image in Markdown, with its label': [
      `a ![Sales in May](data:image/png;base64,${BASE64}) b`,
      'a <PICTURE image/png Sales in May> b',
    ],
    'as an image with a title': [`![](data:image/png;base64,${BASE64} "t")`, '<PICTURE image/png>'],
    'as a link': [`[get it](data:image/png;base64,${BASE64})`, '<PICTURE image/png get it>'],
    'in HTML': [`<img src="data:image/png;base64,${BASE64}">`, '<img src="<PICTURE image/png>">'],
    'in prose, on lines of its own': [`Here:\n\n${BASE64}\n\nThanks`, 'Here:\n\n<PICTURE>\n\nThanks'],
    'in JSON': [JSON.stringify({ a: [1, { b: BASE64 }] }), '{"a":[1,{"b":"<PICTURE>"}]}'],
    'in JSON by PHP': [php({ a: BASE64 }), '{"a":"<PICTURE>"}'],
    'in JSON by PHP, as a data: URL': [
      php({ a: `data:image/png;base64,${BASE64}` }),
      '{"a":"<PICTURE image/png>"}',
    ],
    'in JSON within JSON within JSON': [
      JSON.stringify({ t: JSON.stringify({ u: php({ a: BASE64 }) }) }),
      JSON.stringify({ t: JSON.stringify({ u: '{"a":"<PICTURE>"}' }) }),
    ],
    'in JSON, in lines': [
      JSON.stringify({ a: `Here:\n${wrap(BASE64, 76)}\nThanks` }),
      '{"a":"Here:\\n<PICTURE>\\nThanks"}',
    ],
    'in a Python dictionary': [`{'a': '${BASE64}'}`, "{'a': '<PICTURE>'}"],
    twice: [`${BASE64} ${BASE64}`, '<PICTURE> <PICTURE>'],
    'as noise in JSON, when it is long': [
      JSON.stringify({ a: NOISE.toString('base64') }),
      '{"a":"<3001 BYTES application/octet-stream>"}',
    ],
    'as noise alone': [NOISE.toString('base64'), '<3001 BYTES application/octet-stream>'],
    'as a long text in base64': [
      JSON.stringify({ content: Buffer.from('A text, quite a long one. '.repeat(80)).toString('base64') }),
      '{"content":"<2080 BYTES text/plain>"}',
    ],
  };
  for (const [name, [text, expected]] of Object.entries(cases)) {
    it(name, async () => assert.equal(show(await findBase64(text)), expected));
  }

  it('anywhere in JSON, at any depth, by any writer', async () => {
    const writers = [JSON.stringify, php, (value: unknown) => JSON.stringify(value, null, 2)];
    await fc.assert(
      fc.asyncProperty(
        fc.jsonValue({ maxDepth: 3 }),
        fc.array(fc.constantFrom(...writers), { minLength: 1, maxLength: 3 }),
        fc.uint8Array({ minLength: 30, maxLength: 600 }),
        fc.boolean(),
        async (around, levels, data, inLines) => {
          const bytes = png(1, 1, data);
          const base64 = inLines ? wrap(bytes.toString('base64'), 64) : bytes.toString('base64');
          let text: string | undefined;
          for (const write of levels) text = write({ around, here: text ?? base64, last: 1 });
          const pieces = await findBase64(text ?? '');
          const found = pieces.filter((piece) => typeof piece !== 'string');
          assert.equal(found.length, 1);
          assert.ok(found[0]?.kind === 'bytes' && found[0].bytes instanceof Uint8Array);
          assert.equal(Buffer.compare(found[0].bytes, bytes), 0);
          JSON.parse(pieces.map((piece) => (typeof piece === 'string' ? piece : '(words)')).join(''));
        },
      ),
      { numRuns: 200 },
    );
  });
});

describe('text that only looks like base64 stays unchanged', () => {
  const words = 'the quick brown fox jumps over the lazy dog and runs away'.split(' ');
  const hexadecimal = NOISE.toString('hex');
  const letters = (alphabet: string, length: number) =>
    Array.from({ length }, (_, at) => alphabet[(NOISE[at % NOISE.length] ?? 0) % alphabet.length]).join('');
  const jwt = [{ alg: 'RS256', typ: 'JWT' }, { sub: 'x'.repeat(3000) }]
    .map((part) => Buffer.from(JSON.stringify(part)).toString('base64url'))
    .concat(NOISE.subarray(0, 256).toString('base64url'))
    .join('.');
  const cases: Readonly<Record<string, string>> = {
    'a long word': 'Donaudampfschifffahrtsgesellschaftskapitaen'.repeat(60),
    'one letter, over and over': 'A'.repeat(4000),
    'letters that decode to letters': 'V'.repeat(4000),
    'words without spaces': words.join('').repeat(60),
    'names in camel case': words
      .map((each) => `${each.charAt(0).toUpperCase()}${each.slice(1)}2`)
      .join('')
      .repeat(60),
    'a list of words': Array.from({ length: 2000 }, (_, at) => words[at % words.length]).join('\n'),
    'a path': `/${words.join('/')}`.repeat(60),
    'a SHA-512': createHash('sha512').update('x').digest('base64'),
    'a list of SHA-256': wrap(hexadecimal, 64),
    'a JWT': jwt,
    'a hex dump': hexadecimal,
    'a hex dump that begins as a bitmap': `Qk0${hexadecimal}`.slice(0, 4000),
    genes: letters('ACGT', 8000),
    'genes, in lines': wrap(letters('acgt', 8000), 60),
    'a protein': letters('ACDEFGHIKLMNPQRSTVWY', 4000),
    digits: letters('0123456789', 4000),
    'tokens without a slash or a plus': letters(
      'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789',
      4000,
    ),
    'a minified script': `(function(){${'var a1=b2?c3:d4;e5(f6+g7/h8);'.repeat(200)}})()`,
    'a key in PEM': `-----BEGIN PRIVATE KEY-----\n${wrap(NOISE.toString('base64'), 64)}\n-----END PRIVATE KEY-----`,
    'noise in prose': `It is ${NOISE.toString('base64')} or so.`,
    'a cursor': JSON.stringify({ next: NOISE.subarray(0, 600).toString('base64') }),
    'a short data: URL': 'data:image/gif;base64,R0lGODlhAQABAAAAACw=',
    'two alphabets at once': `${BASE64.slice(0, 400)}-_+/`,
    'a rule of dashes': '-'.repeat(5000),
  };
  for (const [name, text] of Object.entries(cases)) {
    it(name, async () => {
      assert.deepEqual(await findBase64(text), [text]);
      assert.deepEqual(await findBase64(JSON.stringify({ a: text })), [JSON.stringify({ a: text })]);
    });
  }

  it('any JSON of long words', async () => {
    const long = fc
      .array(fc.stringMatching(/^[a-z]{1,12}$/), { minLength: 20, maxLength: 400 })
      .map((each) => each.join(''));
    await fc.assert(
      fc.asyncProperty(fc.jsonValue(), fc.array(long), fc.string(), async (value, strings, text) => {
        const json = JSON.stringify({ value, strings, text });
        assert.deepEqual(await findBase64(json), [json]);
      }),
      { numRuns: 200 },
    );
  });
});

describe('ten million letters', () => {
  const size = 10_000_000;
  const texts: Readonly<Record<string, () => string>> = {
    'in lines of one width': () => `${'a'.repeat(63)}\n`.repeat(size / 64),
    'of escaped slashes': () => '\\/'.repeat(size / 2),
    'of noise in JSON by PHP': () => php({ a: randomBytes((size * 3) / 4).toString('base64') }),
    'of a picture': () => JSON.stringify({ a: png(1, 1, randomBytes((size * 3) / 4)).toString('base64') }),
  };
  for (const [name, make] of Object.entries(texts)) {
    it(`${name} do not block the event loop`, async () => {
      // Through a buffer, because a text from the wire is in one piece too.
      const text = Buffer.from(make()).toString();
      assert.ok((await countTurns(() => findBase64(text))) >= 5);
    });
  }
});
