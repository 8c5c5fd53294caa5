import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { BUDGET } from '../../../src/base/budget.ts';
import {
  jsonChars,
  mapStrings,
  parseConfig,
  parseJson,
  parseJsonWithComments,
} from '../../../src/base/json.ts';
import { foldLines } from '../../../src/base/lines.ts';
import { parseArguments } from '../../../src/chat/format/callInfo.ts';
import { isJson } from '../../../src/result/jsonText.ts';

describe('a configuration file', () => {
  it('over its budget is refused with the reason', () => {
    const text = `{"a": "${'x'.repeat(BUDGET.configChars)}"}`;
    assert.throws(() => parseConfig(text), /^Error: it is larger than 1\.0 MB$/);
    assert.deepEqual(parseConfig('{"a": 1,} // fine'), { a: 1 });
  });

  // Each of these was looked at again from each of its places, which took minutes.
  for (const hostile of ['/*', '"\\"', '\\"', '/', ', ', '"', '// x\n']) {
    it(`that is only ${JSON.stringify(hostile)} is read once`, () => {
      assert.throws(() => parseJsonWithComments(hostile.repeat(500_000)), SyntaxError);
    });
  }

  it('with a comment that does not end is an error, as before', () => {
    for (const text of ['{"a": 1} /* b', '{"a": 1} /*', '{"a": 1} /*/', '{"a": "b']) {
      assert.throws(() => parseJsonWithComments(text), SyntaxError, text);
    }
    assert.deepEqual(parseJsonWithComments('{"a": 1} /**/'), { a: 1 });
  });
});

describe('JSON from outside', () => {
  const many = `[${'{},'.repeat(BUDGET.textValues)}{}]`;
  const deep = `{"a": ${'['.repeat(50_000)}${']'.repeat(50_000)}}`;

  it('with too many values is not parsed', () => {
    assert.equal(parseJson(many), undefined);
    assert.deepEqual(parseJson(many.slice(1, 4).replace(',', '')), {});
  });

  it('is JSON nevertheless by its ends', () => {
    assert.deepEqual([isJson(`${many}\n`), isJson(many.slice(0, -2))], [true, false]);
  });

  it('that is nested too deeply to be written is not used', () => {
    assert.equal(parseJson(deep), undefined);
    assert.deepEqual(parseArguments(deep), { ok: false, message: 'The arguments are nested too deeply.' });
  });

  it('is the same object if it has nothing to replace', () => {
    const value = { a: ['x', { b: 'y' }], c: { d: 1 } };
    assert.equal(
      mapStrings(value, (text) => text),
      value,
    );
    const mapped = mapStrings(value, (text) => text.replace('y', 'z')) as typeof value;
    assert.deepEqual(mapped, { a: ['x', { b: 'z' }], c: { d: 1 } });
    assert.equal(mapped.c, value.c);
  });
});

describe('the length of a value as JSON', () => {
  it('is about the real one', () => {
    const value = { name: 'abc', list: ['x', 'y'], deep: { deeper: { deepest: 'end' } } };
    const real = JSON.stringify(value).length;
    assert.ok(Math.abs(jsonChars(value, 1000) - real) < real / 2);
  });

  it('is never counted further than asked', () => {
    let reads = 0;
    const long = new Proxy(
      Array.from({ length: 100_000 }, () => 'x'.repeat(100)),
      {
        get: (target, key) => {
          reads += 1;
          return Reflect.get(target, key);
        },
      },
    );
    assert.ok(jsonChars(long, 1000) > 1000);
    assert.ok(reads < 10);
  });
});

it('foreign lines are folded, whatever ends them', () => {
  assert.deepEqual(foldLines('\n\n a\n \n\n\nb\rc\u2028d\u2029e\r\nf\n', 5), {
    lines: ['a', ' ', 'b', 'c', 'd'],
    more: 2,
  });
});

it('docs/security.md has all budgets with their values', () => {
  const page = readFileSync(new URL('../../../docs/security.md', import.meta.url), 'utf8');
  const rows = new Map(
    [...page.matchAll(/^\| `(\w+)` \| [^|]+ \| ([^|]+) \|$/gm)].map(([, name = '', value = '']) => [
      name,
      value.trim(),
    ]),
  );
  const shown = (value: number) => {
    const units = [
      [1024 ** 3, 'GiB'],
      [1024 ** 2, 'MiB'],
      [1024, 'KiB'],
    ] as const;
    const [size, unit] = units.find(([each]) => value % each === 0) ?? [1, ''];
    return `${(value / size).toLocaleString('en')} ${unit}`.trim();
  };
  assert.deepEqual(rows, new Map(Object.entries(BUDGET).map(([name, value]) => [name, shown(value)])));
});
