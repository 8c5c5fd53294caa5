import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { type CompletionPlace, completionPlace, rankPaths } from '../../../src/chat/completion.ts';
import { parseChat } from '../../../src/chat/format/parse.ts';

/** `‸` marks the cursor. */
function at(marked: string): CompletionPlace | undefined {
  const offset = marked.indexOf('‸');
  const text = marked.replace('‸', '');
  return completionPlace(text, parseChat(text), offset);
}

function brief(marked: string): string {
  const place = at(marked);
  if (!place) return 'nothing';
  if (place.kind === 'arguments')
    return `arguments of ${place.call.server}.${place.call.tool}@${place.offset}`;
  if (place.kind === 'value') return `value of ${place.key}: ${place.typed}`;
  return `${place.kind}: ${place.typed}`;
}

const cases: Record<string, Record<string, string>> = {
  'in a user turn': {
    '# %% user\n#‸': 'file: ',
    '# %% user\nSee #src/ma‸ please': 'file: src/ma',
    '# %% user\n(#read‸': 'file: read',
    '# %% user\nissue #12‸': 'nothing',
    '# %% user\nissue #12a‸': 'file: 12a',
    '# %% user\n# ‸': 'nothing',
    '# %% user\n# Title‸': 'nothing',
    '# %% user\n##‸': 'nothing',
    '# %% user\nC#‸': 'nothing',
    '# %% user\n[x](#anch‸': 'nothing',
    '# %% user\nhttps://a.b/#x‸': 'nothing',
    '# %% user\n`#x‸': 'nothing',
    '# %% user\n`a` #x‸': 'file: x',
    '# %% user\n@‸': 'mention: ',
    '# %% user\nUse @charts.ba‸': 'mention: charts.ba',
    '# %% user\nada@example‸': 'nothing',
    '# %% user\nü@x‸': 'nothing',
    '# %% user\n@a b‸': 'nothing',
    '# %% user\n/‸': 'command: ',
    '# %% user\n/mo‸': 'command: mo',
    '# %% user\n/usr/bin‸': 'nothing',
    '# %% user\nand/or‸': 'nothing',
    '# %% user\n see /‸': 'nothing',
    '#‸': 'file: ',
    '': 'nothing',
    'Hello @‸': 'mention: ',
    '# %% user\r\n@a‸\r\n': 'mention: a',
  },
  'where nothing is offered': {
    '# %% user\n```\n#a‸\n```\n': 'nothing',
    '# %% user\n```\n@a‸': 'nothing',
    '# %% user\n~~~sh\n/run‸\n~~~': 'nothing',
    '# %% user\n<!-- \n@a‸\n-->': 'nothing',
    '# %% user\nx\n# %% assistant\n@a‸': 'nothing',
    '# %% user\nx\n# %% assistant\n/run‸': 'nothing',
    '# %% tool a.b c1\n#x‸': 'nothing',
    '# %% system\n@a‸': 'nothing',
    '# %% user @a‸': 'nothing',
    '# %% us‸er\n': 'nothing',
    'selectedConfig=@a‸\n# %% user\n': 'nothing',
  },
  markers: {
    '# %%‸': 'role: ',
    '# %% user\nx\n# %% ‸': 'role: ',
    '# %% user\nx\n# %% as‸': 'role: as',
    '# %% user\nx\n# %% assistant‸': 'nothing',
    '# %% assistant\nx\n# %% us‸': 'role: us',
    '# %% user\n```\n# %% as‸\n```': 'nothing',
    '# %% user\n # %%‸': 'nothing',
  },
  calls: {
    '# %% user\n```tool_call ‸': 'tool: ',
    '# %% user\n```tool_call char‸\n{}\n```': 'tool: char',
    '# %% user\n```\n```tool_call a‸': 'nothing',
    '# %% user\n```tool_call a.b\n{‸}\n```\n': 'arguments of a.b@1',
    '# %% user\n```tool_call a.b\n‸{}\n```\n': 'arguments of a.b@0',
    '# %% user\n```tool_call a.b\n{}\n‸```\n': 'nothing',
    '# %% user\n```tool_call a.b\n‸\n```\n': 'arguments of a.b@0',
    '# %% user\n```tool_call a.b\n{"x": "@a‸"}\n```\n': 'arguments of a.b@9',
    '# %% user\n```tool_call a.b c1\r\n{"x": ‸}\r\n```\r\n': 'arguments of a.b@6',
    '# %% user\n```tool_call a.b\n{‸': 'arguments of a.b@1',
    '# %% assistant\n```tool_call a.b c1\n{‸}\n```\n': 'arguments of a.b@1',
    '# %% tool a.b c1\n```tool_call a.b c1\n{‸}\n```\n': 'nothing',
    '# %% user\n```json\n{‸}\n```\n': 'nothing',
  },
  settings: {
    '---\n‸\n---\n': 'key: ',
    '---\nmo‸\n---\n': 'key: mo',
    '---\nmo‸': 'key: mo',
    '---\n‸': 'key: ',
    '---\nmodel: x\n‸': 'key: ',
    '---\nmodel: x\n‸---\n': 'nothing',
    '---\nmodel: x\n---\n‸': 'nothing',
    '---\nmodel:‸\n---\n': 'value of model: ',
    '---\nmodel: an‸\n---\n': 'value of model: an',
    '---\napprove: ‸\n---\n# %% user\n': 'value of approve: ',
    '---\nservers: [a, b‸]\n---\n': 'value of servers: b',
    '---\nservers: [‸\n---\n': 'value of servers: ',
    '---\nservers: [a]‸\n---\n': 'nothing',
    '---\ntools:\n  - "ch‸"\n---\n': 'value of tools: "ch',
    '---\ntools:\n- ‸\n---\n': 'value of tools: ',
    '---\nnobody: ‸\n---\n': 'nothing',
    '---\nconstructor: ‸\n---\n': 'nothing',
    '---\nsystem: |\n  @a‸\n---\n': 'nothing',
    '---\nmodel: x\n\nSome text @a‸': 'mention: a',
    '---\n‸# %% user\n': 'nothing',
  },
};

for (const [title, each] of Object.entries(cases)) {
  describe(`completion ${title}`, () => {
    for (const [marked, expected] of Object.entries(each)) {
      it(JSON.stringify(marked), () => assert.equal(brief(marked), expected));
    }
  });
}

describe('places', () => {
  it('have the start of the typed text', () => {
    assert.deepEqual(at('# %% user\nSee #src‸'), { kind: 'file', start: 14, typed: 'src' });
    assert.deepEqual(at('# %% user\n/ru‸'), { kind: 'command', start: 10, typed: 'ru' });
    assert.deepEqual(at('# %% user\n# %% a‸'), { kind: 'role', start: 10, typed: 'a' });
  });

  it('include the existing settings, without the one being typed', () => {
    const key = at('---\nmodel: x\nag‸\ntools: []\n---\n');
    assert.deepEqual(key, {
      kind: 'key',
      start: 13,
      end: 15,
      typed: 'ag',
      present: new Set(['model', 'tools']),
      hasColon: false,
    });
    const renamed = at('---\nmo‸del: x\n---\n');
    assert.deepEqual(renamed, {
      kind: 'key',
      start: 4,
      end: 9,
      typed: 'mo',
      present: new Set(),
      hasColon: true,
    });
  });

  it('include the other items of a list, and the rest of this item', () => {
    const item = at('---\nservers: [a, "b c", fi‸les, d]\n---\n');
    assert.ok(item?.kind === 'value');
    assert.deepEqual(item.taken, ['a', 'b c', 'd']);
    assert.equal(item.end - item.start, 'files'.length);
    const line = at('---\ntools:\n  - a.*\n  - ‸\n---\n');
    assert.ok(line?.kind === 'value');
    assert.deepEqual(line.taken, ['a.*']);
  });

  it('need a space right after the colon', () => {
    const value = at('---\nmodel:‸\n---\n');
    assert.ok(value?.kind === 'value' && value.needsSpace);
    const spaced = at('---\nmodel: ‸\n---\n');
    assert.ok(spaced?.kind === 'value' && !spaced.needsSpace);
  });

  it('start before the cursor in any text', () => {
    const piece = fc.constantFrom(
      ...'---\n¦# %% user\n¦# %% assistant\n¦# %% tool a.b c1\n¦```tool_call a.b\n¦```\n'.split('¦'),
      ...'{"a": "¦#¦@¦/¦\n¦\r\n¦model: ¦servers: [¦- ¦<!--¦`¦ ¦x¦\u0000¦\ud800¦<tool_call>'.split('¦'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 30 }), fc.nat(), (pieces, seed) => {
        const text = pieces.join('');
        const offset = text.length === 0 ? 0 : seed % (text.length + 1);
        const place = completionPlace(text, parseChat(text), offset);
        if (place) assert.ok(place.start <= offset && place.start >= 0);
      }),
      { numRuns: 400 },
    );
  });

  it('are found quickly in a very long line or turn', () => {
    const long = `# %% user\n${'@a '.repeat(500_000)}`;
    assert.equal(completionPlace(long, parseChat(long), long.length - 1), undefined);
    const lines = `# %% user\n${'#\n'.repeat(200_000)}@a`;
    assert.equal(completionPlace(lines, parseChat(lines), lines.length)?.kind, 'mention');
  });
});

const paths = [
  'src/chat/parse.ts',
  'docs/parser.md',
  'parse/index.ts',
  'README.md',
  'src/sparse.ts',
  'p/a/r/s/e.txt',
];

describe('ranking paths by typed text', () => {
  it('puts names that begin with it first, then names that contain it, then paths that contain its letters', () => {
    assert.deepEqual(rankPaths(paths, 'parse', 10), [
      'docs/parser.md',
      'src/chat/parse.ts',
      'src/sparse.ts',
      'parse/index.ts',
      'p/a/r/s/e.txt',
    ]);
  });

  it('prefers short paths when nothing is typed, up to the limit', () => {
    assert.deepEqual(rankPaths(paths, '', 2), ['README.md', 'p/a/r/s/e.txt']);
  });

  it('ignores case, and also matches folders', () => {
    assert.deepEqual(rankPaths(paths, 'SRC/CH', 10), ['src/chat/parse.ts']);
    assert.deepEqual(rankPaths(paths, 'zz', 10), []);
  });
});
