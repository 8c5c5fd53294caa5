import assert from 'node:assert/strict';
import { createHash, randomBytes } from 'node:crypto';
import { describe, test } from 'node:test';
import fc from 'fast-check';
import { BUDGET } from '../../../../src/base/budget.ts';
import { JsonFilter } from '../../../../src/mcp/spill/jsonFilter.ts';
import { SpillTable } from '../../../../src/mcp/spill/spillFiles.ts';
import type { Spill } from '../../../../src/ports/results.ts';
import { joined } from '../../../../src/result/textWindows.ts';
import { anySign } from '../../../kit/anySign.ts';
import { bytesOf, cut, filterMessage, MIN_CHARS, makeFolder, resolveSpills } from './spilling.ts';

const RUNS = 100;
const MB = 1_000_000;

interface Dialect {
  readonly url: boolean;
  readonly padded: boolean;
  readonly wrap: number | undefined;
  readonly newline: '\n' | '\r\n';
  readonly trailingNewline: boolean;
  readonly dataUrl: boolean;
}

const dialects: fc.Arbitrary<Dialect> = fc.record({
  url: fc.boolean(),
  padded: fc.boolean(),
  wrap: fc.option(fc.integer({ min: 16, max: 80 }), { nil: undefined }),
  newline: fc.constantFrom('\n', '\r\n'),
  trailingNewline: fc.boolean(),
  dataUrl: fc.boolean(),
});
const payloads = fc.uint8Array({ minLength: 20, maxLength: 200 });
/** The form of a character in JSON: plain, or one of its escapes. */
const escapes = fc.infiniteStream(fc.nat(15));
const chunkings = fc.oneof(
  fc.constant([]),
  fc.constant([1]),
  fc.array(fc.integer({ min: 1, max: 40 }), { minLength: 1, maxLength: 10 }),
);

function encode(
  bytes: Uint8Array,
  { url, padded, wrap, newline, trailingNewline, dataUrl }: Dialect,
): string {
  let text = Buffer.from(bytes).toString('base64');
  if (!padded) text = text.replace(/=+$/, '');
  if (url) text = text.replaceAll('+', '-').replaceAll('/', '_');
  if (wrap !== undefined) {
    text = (text.match(new RegExp(`.{1,${wrap}}`, 'gs')) ?? []).join(newline);
    if (trailingNewline) text += newline;
  }
  return dataUrl ? `data:image/png;base64,${text}` : text;
}

/** A JSON string with unnecessary escapes. */
function quote(text: string, choices: Iterator<number>): string {
  const inside = [...text].map((char) => {
    const choice = choices.next().value ?? 0;
    if (char === '/' && choice < 6) return '\\/';
    // No serializer escapes lowercase letters.
    if (choice < 2 && /^[A-Z+/=_\r\n-]$/.test(char)) {
      return `\\u${char.charCodeAt(0).toString(16).padStart(4, '0')}`.replace(/[a-f]/g, (digit) =>
        choice % 2 === 0 ? digit.toUpperCase() : digit,
      );
    }
    return JSON.stringify(char).slice(1, -1);
  });
  return `"${inside.join('')}"`;
}

function write(value: unknown, choices: Iterator<number>): string {
  if (typeof value === 'string') return quote(value, choices);
  if (Array.isArray(value)) return `[${value.map((each) => write(each, choices)).join(' ,')}]`;
  if (typeof value !== 'object' || value === null) return JSON.stringify(value);
  const fields = Object.entries(value).map(
    ([key, each]) => `${quote(key, choices)} : ${write(each, choices)}`,
  );
  return `{ ${fields.join(',\t')} }`;
}

/** Values with base64 between others, in nested lists, and beside keys that look like base64. */
function around(long: fc.Arbitrary<string>): fc.Arbitrary<unknown> {
  const looksLikeBase64 = Buffer.alloc(60, 'key').toString('base64');
  const keys = fc.oneof(fc.string({ maxLength: 5 }), fc.constant(looksLikeBase64), fc.constant('result'));
  const small = fc.oneof(
    fc.string({ unit: anySign, maxLength: 12 }),
    fc.constantFrom('say "hi" \\', '\\"', '\\\\', '{[,:"', null, true, 12.5e3, -0.1),
    fc.string({ unit: anySign, minLength: 30, maxLength: 60 }).map((text) => `no base64: ${text}`),
  );
  const { tree } = fc.letrec((tie) => ({
    tree: fc.oneof(
      { maxDepth: 2 },
      small,
      long,
      fc.array(tie('tree'), { maxLength: 4 }),
      fc.array(fc.tuple(keys, tie('tree')), { maxLength: 4 }).map(Object.fromEntries),
    ),
  }));
  return fc.tuple(tree, long, tree);
}

const messages = (result: fc.Arbitrary<unknown>) =>
  fc
    .tuple(result, fc.boolean())
    .map(([value, idFirst]) =>
      idFirst
        ? { jsonrpc: '2.0', id: 5, result: value }
        : { jsonrpc: '2.0', result: value, _meta: { id: 9 }, id: 5 },
    );

const sha256 = (bytes: Uint8Array) => createHash('sha256').update(bytes).digest('hex');

test('a message is endless when more than 1 GiB was dropped', () => {
  assert.equal(BUDGET.droppedBytes, 1024 ** 3);
});

describe('the values of a message are limited, whatever its size', () => {
  const repeat = (count: number, item: (at: number) => string) =>
    Array.from({ length: count }, (_, at) => item(at)).join();
  const { messageValues: max } = BUDGET;
  const results: readonly (readonly [what: string, result: string, isRefused: boolean])[] = [
    ['many empty objects', `{"x":{"list":[${'{},'.repeat(max)}1]}}`, true],
    [
      'a table of 40,000 rows',
      `{"x":{"rows":[${repeat(40_000, (at) => `{"a":${at},"b":"x","c":true,"d":null}`)}]}}`,
      false,
    ],
    ['blocks', `{"content":[${repeat(20_000, () => '{"type":"text"}')}]}`, false],
    ['too many blocks', `{"content":[${repeat(50_000, () => '{}')}]}`, true],
    ['an object with many keys', `{"x":{${repeat(20_000, (at) => `"${at}":1`)}}}`, false],
    [
      'few keys of their own',
      `{"x":{"y":[${repeat(9_000, (at) => `{"${at}":1,"b${at}":{"c":2}}`)}]}}`,
      false,
    ],
    [
      'too many keys of their own',
      `{"x":{"y":[${repeat(90_000, (at) => `{"${at}":1,"b${at}":{"c":2}}`)}]}}`,
      true,
    ],
    ['an object with too many keys', `{"x":{${repeat(60_000, (at) => `"${at}":1`)}}}`, true],
  ];
  for (const [what, result, isRefused] of results) {
    test(what, async () => {
      const filter = new JsonFilter({
        tableFor: () => undefined,
        assign: async () => {},
        arrived: () => {},
        tooLarge: (id) => Buffer.from(`refused ${id}`),
        dropped: () => assert.fail(),
        maxValues: () => max,
        maxDroppedBytes: BUDGET.droppedBytes,
      });
      const write = async (text: string) => {
        await filter.push(Buffer.from(text));
        return (await filter.end()).toString();
      };
      const message = `{"id":7,"result":${result}}`;
      assert.equal(await write(message), isRefused ? 'refused 7' : message);
      assert.equal(await write('{"id":8}'), '{"id":8}');
    });
  }
});

describe('the values of what a server sends by itself are limited more', () => {
  const many = `[${'{},'.repeat(BUDGET.requestValues)}1]`;
  const messages: readonly (readonly [what: string, message: string, written: string])[] = [
    ['a request', `{"id":1,"method":"sampling/createMessage","params":{"messages":${many}}}`, 'dropped'],
    ['a notification', `{"params":{"data":${many}},"method":"notifications/message"}`, 'dropped'],
    ['an error', `{"id":7,"error":{"code":1,"message":"x","data":${many}}}`, 'refused 7'],
    ['a batch', `[${'{"method":"x"},'.repeat(BUDGET.requestValues)}{"id":7,"result":1}]`, 'refused 7'],
  ];
  for (const [what, message, written] of messages) {
    test(what, async () => {
      const filter = new JsonFilter({
        tableFor: () => undefined,
        assign: async () => {},
        arrived: () => {},
        tooLarge: (id) => Buffer.from(`refused ${id ?? 7}`),
        dropped: () => Buffer.from('dropped'),
        maxValues: () => BUDGET.messageValues,
        maxDroppedBytes: BUDGET.droppedBytes,
      });
      await filter.push(Buffer.from(message));
      assert.equal((await filter.end()).toString(), written);
      const result = `{"id":8,"result":${many}}`;
      await filter.push(Buffer.from(result));
      assert.equal((await filter.end()).toString(), result);
    });
  }
});

test('a response is reported at once, then a few times a second, including its last piece', async (t) => {
  t.mock.timers.enable({ apis: ['setTimeout'] });
  const reported: string[] = [];
  const filter = new JsonFilter({
    tableFor: () => undefined,
    assign: async () => {},
    arrived: (id, bytes) => reported.push(`${id} ${bytes / MB}`),
    tooLarge: () => assert.fail(),
    dropped: () => assert.fail(),
    maxValues: () => BUDGET.messageValues,
    maxDroppedBytes: BUDGET.droppedBytes,
  });
  const push = (megabytes: number, start = '') => filter.push(Buffer.from(start.padEnd(megabytes * MB)));
  const told = () => reported.splice(0);
  await push(2, '{"method":"x","params":"');
  await filter.end();
  assert.deepEqual(told(), [], 'only responses are reported');
  await push(0.9, '{"id":7,"result":"');
  assert.deepEqual(told(), ['7 0'], 'without the size of a short one');
  await push(0.3);
  await push(0.5);
  await push(0.3);
  assert.deepEqual(told(), ['7 1.2']);
  t.mock.timers.tick(250);
  assert.deepEqual(told(), ['7 2']);
  t.mock.timers.tick(1_000);
  assert.deepEqual(told(), []);
  await push(1);
  await push(1);
  await filter.end();
  t.mock.timers.tick(1_000);
  assert.deepEqual(told(), ['7 3'], 'nothing after the end of a message');
  await push(0.5, '{"result":"');
  assert.deepEqual(told(), ['undefined 0'], 'each message is counted from zero');
});

describe('long base64 strings become files, and nothing else changes', () => {
  test('in any dialect, at any chunking, anywhere in a message', async (t) => {
    const folder = makeFolder(t);
    const marked = fc
      .tuple(payloads, dialects)
      .filter(([bytes, dialect]) => encode(bytes, dialect).length > 2 * MIN_CHARS);
    await fc.assert(
      fc.asyncProperty(
        messages(around(marked.map(([bytes, dialect]) => encode(bytes, dialect)))),
        escapes,
        chunkings,
        async (message, choices, sizes) => {
          const table = folder.table();
          try {
            const json = Buffer.from(write(message, choices));
            const filtered = await filterMessage(cut(json, sizes), table);
            const expected = hash(message);
            assert.deepEqual(resolveSpills(JSON.parse(filtered.toString()), table, describeSpill), expected);
          } finally {
            // Also after a failure, because the folder is shared with the next example.
            await table.dispose();
          }
          assert.deepEqual(folder.files(), []);
        },
      ),
      { numRuns: RUNS },
    );
  });

  test('the original string is restored', async (t) => {
    const folder = makeFolder(t);
    await fc.assert(
      fc.asyncProperty(payloads, dialects, escapes, chunkings, async (bytes, dialect, choices, sizes) => {
        const table = folder.table();
        const text = encode(bytes, dialect);
        const json = Buffer.from(write({ id: 5, result: text }, choices));
        const filtered = await filterMessage(cut(json, sizes), table);
        const spill = table.find(JSON.parse(filtered.toString()).result);
        assert.ok(spill?.kind === 'bytes' && spill.pieces !== undefined);
        assert.equal(await joined(spill.pieces()), text);
        assert.deepEqual(bytesOf(spill), Buffer.from(bytes));
        assert.equal(spill.size, bytes.length);
        assert.equal(spill.mimeType, dialect.dataUrl ? 'image/png' : undefined);
        await table.dispose();
      }),
      { numRuns: RUNS },
    );
    assert.deepEqual(folder.files(), []);
  });

  test('text that is almost base64 is unchanged', async (t) => {
    const folder = makeFolder(t);
    const broken = fc.tuple(payloads, dialects, fc.nat(), breaks).map(([bytes, dialect, at, breakIt]) => {
      const text = encode(bytes, dialect);
      const head = text.indexOf(',') + 1;
      return breakIt(text, head + (at % (text.length - head)));
    });
    await fc.assert(
      fc.asyncProperty(
        messages(around(broken.filter((text) => !isBase64(text)))),
        escapes,
        chunkings,
        async (message, choices, sizes) => {
          const table = folder.table();
          const filtered = await filterMessage(cut(Buffer.from(write(message, choices)), sizes), table);
          const left = folder.files();
          await table.dispose();
          assert.deepEqual(JSON.parse(filtered.toString()), JSON.parse(JSON.stringify(message)));
          assert.deepEqual(left, []);
        },
      ),
      { numRuns: RUNS },
    );
  });
});

describe('strings longer than any buffer', () => {
  const sizes = fc.array(fc.integer({ min: 1, max: 200_000 }), { minLength: 1, maxLength: 20 });
  const large = fc.integer({ min: 400_000, max: 700_000 }).map((size) => randomBytes(size));
  const slashes = fc.constantFrom('/', '\\/', '\\u002F');

  interface Filtered {
    readonly bytes: Buffer;
    readonly encoded: string;
    readonly table: SpillTable;
    readonly result: readonly string[];
  }

  /** Checks many results that begin with a long string; `rest` is the JSON after its last character. */
  async function checkLong(
    makeTable: () => SpillTable,
    rest: string,
    check: (filtered: Filtered) => Promise<void>,
  ): Promise<void> {
    const property = fc.asyncProperty(large, dialects, slashes, sizes, async (bytes, dialect, ...how) => {
      const [slash, chunks] = how;
      const encoded = encode(bytes, dialect);
      const table = makeTable();
      const json = `{"id":5,"result":[${JSON.stringify(encoded).replaceAll('/', slash).slice(0, -1)}${rest}]}`;
      const filtered = await filterMessage(cut(Buffer.from(json), chunks), table, 65_536);
      await check({ bytes, encoded, table, result: JSON.parse(filtered.toString()).result });
      await table.dispose();
    });
    await fc.assert(property, { numRuns: 5 });
  }

  test('keep their bytes', async (t) => {
    const folder = makeFolder(t);
    await checkLong(folder.table, '"', async ({ bytes, encoded, table, result: [placeholder = ''] }) => {
      const spill = table.find(placeholder);
      assert.ok(bytesOf(spill).equals(bytes));
      assert.ok(spill?.kind === 'bytes' && spill.pieces && (await joined(spill.pieces())) === encoded);
    });
    assert.deepEqual(folder.files(), []);
  });

  test('that are not base64 at their end keep their text', async (t) => {
    const folder = makeFolder(t);
    await checkLong(folder.table, ' is it"', async ({ encoded, result }) => {
      assert.ok(result[0] === `${encoded} is it`);
      assert.deepEqual(folder.files(), []);
    });
  });

  test('over the limit are counted exactly', async (t) => {
    const folder = makeFolder(t);
    // One less than the smallest payload, because a string at the limit is kept.
    const makeTable = () => folder.table(399_999);
    await checkLong(makeTable, '","next"', async ({ bytes, table, result: [placeholder = '', next] }) => {
      assert.deepEqual(table.find(placeholder), { kind: 'refused', size: bytes.length });
      assert.equal(next, 'next');
      assert.deepEqual(folder.files(), []);
    });
  });

  test('together over the limit of a result are not written to the disk', async (t) => {
    const folder = makeFolder(t);
    const options = { folder: async () => folder.path, maxBytes: 1e9, maxTotalBytes: 250_000 };
    const table = new SpillTable(options);
    const data = randomBytes(99_999).toString('base64');
    const json = JSON.stringify({ id: 5, result: [data, data, data, data, 'next'] });
    const filtered = await filterMessage([Buffer.from(json)], table, 65_536);
    const { result } = JSON.parse(filtered.toString()) as { result: string[] };
    assert.deepEqual(
      result.slice(0, 4).map((each) => table.find(each)?.kind),
      ['bytes', 'bytes', 'refused', 'refused'],
    );
    assert.equal(result[4], 'next');
    assert.equal(folder.files().length, 2);
    await table.dispose();
  });
});

/** One error, anywhere. */
const breaks: fc.Arbitrary<(text: string, at: number) => string> = fc.oneof(
  fc
    .constantFrom('!', ' ', '"', '\\', 'é', '\u0000', '\n', '\r', '=', '-', '+', '.', '😀', '\ud800')
    .map((char) => (text: string, at: number) => text.slice(0, at) + char + text.slice(at + 1)),
  fc.constantFrom('=', '==', '===', 'A', '\n\n', '\r').map((end) => (text: string) => text + end),
  fc.constant((text: string) => `${text.replace(/[\s=]+$/, '')}-+`),
);

/** A simple reference implementation. */
function isBase64(text: string): boolean {
  const body = text.replace(/^data:image\/png;base64,/, '');
  const newline = body.includes('\r\n') ? '\r\n' : '\n';
  const lines = body.split(newline);
  if (lines.length > 1 && lines.at(-1) === '') lines.pop();
  const [first = ''] = lines;
  const even = lines.every((line, at) =>
    at === lines.length - 1 ? line.length <= first.length && line !== '' : line.length === first.length,
  );
  if (body.includes('\n') && first.length < 16) return false;
  const joined = lines.join('');
  const digits = joined.replace(/={1,2}$/, '');
  const padding = joined.length - digits.length;
  const fits = padding === 0 ? digits.length % 4 !== 1 : joined.length % 4 === 0;
  return even && fits && (/^[\w-]*$/.test(digits) || /^[A-Za-z0-9+/]*$/.test(digits));
}

function hash(value: unknown): unknown {
  if (typeof value === 'string' && value.length > MIN_CHARS && isBase64(value)) {
    return sha256(Buffer.from(value.replace(/^data:.*,/, ''), 'base64'));
  }
  if (Array.isArray(value)) return value.map(hash);
  if (typeof value !== 'object' || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([key, each]) => [key, hash(each)]));
}

function describeSpill(spill: Spill): unknown {
  return spill.kind === 'bytes' ? sha256(bytesOf(spill)) : spill;
}
