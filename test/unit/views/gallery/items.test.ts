import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  applyQuery,
  DEFAULT_QUERY,
  type GalleryItem,
  isShown,
  kindOf,
  type Query,
  readQuery,
  toolNames,
  UNLINKED,
} from '../../../../src/views/gallery/items.ts';
import { changesBetween, readFromPage } from '../../../../src/views/gallery/messages.ts';
import { countPdfPages, describeDuration, peaksOf } from '../../../../src/views/gallery/peeks.ts';
import {
  choose,
  chooseAll,
  extend,
  keepShown,
  moveBy,
  NOTHING,
  toggle,
} from '../../../../src/views/gallery/selection.ts';
import { fillIn } from '../../../../src/views/gallery/words.ts';

const DAY = 24 * 60 * 60 * 1000;
const NOW = 100 * DAY;

function item(name: string, more: Partial<GalleryItem> & { tool?: string; age?: number } = {}): GalleryItem {
  const { tool, age = 0, ...rest } = more;
  const uses = tool === undefined ? [] : [{ chat: 'sales', turn: 3, tool }];
  return {
    id: name,
    title: name,
    name,
    folder: '',
    kind: kindOf(name),
    bytes: 1,
    time: NOW - age,
    uses,
    ...rest,
  };
}

const ITEMS = [
  item('chart-2.png', { tool: 'charts.bar', bytes: 50_000, age: 1 }),
  item('chart-10.png', { tool: 'charts.pie', bytes: 500_000, age: 2 * DAY }),
  item('speech.mp3', { tool: 'voice.say', bytes: 5_000_000, age: 10 * DAY }),
  item('old.bin', { title: 'quarterly.pdf', bytes: 50_000_000, age: 60 * DAY }),
];

describe('a query', () => {
  const cases: readonly (readonly [string, Partial<Query>, readonly string[]])[] = [
    ['shows everything, the newest first', {}, ['chart-2.png', 'chart-10.png', 'speech.mp3', 'old.bin']],
    ['finds names', { search: 'CHART' }, ['chart-2.png', 'chart-10.png']],
    ['finds titles', { search: 'quarterly' }, ['old.bin']],
    ['finds tools and kinds, and requires every word', { search: 'image pie' }, ['chart-10.png']],
    ['finds chats', { search: 'sales mp3' }, ['speech.mp3']],
    ['filters by kind', { kind: 'audio' }, ['speech.mp3']],
    ['filters by tool', { tool: 'charts.bar' }, ['chart-2.png']],
    ['finds unlinked assets', { tool: UNLINKED }, ['old.bin']],
    ['filters by time', { date: 'week' }, ['chart-2.png', 'chart-10.png']],
    ['finds old assets', { date: 'older' }, ['old.bin']],
    ['filters by size', { size: 'medium' }, ['chart-10.png']],
    ['finds huge assets', { size: 'huge' }, ['old.bin']],
    ['shows the oldest first', { sort: 'oldest' }, ['old.bin', 'speech.mp3', 'chart-10.png', 'chart-2.png']],
    [
      'shows the largest first',
      { sort: 'largest' },
      ['old.bin', 'speech.mp3', 'chart-10.png', 'chart-2.png'],
    ],
    [
      'sorts numbers in names by value',
      { sort: 'name' },
      ['chart-2.png', 'chart-10.png', 'old.bin', 'speech.mp3'],
    ],
  ];
  for (const [rule, query, expected] of cases) {
    it(rule, () => {
      const names = applyQuery(ITEMS, { ...DEFAULT_QUERY, ...query }, NOW).map(({ name }) => name);
      assert.deepEqual(names, expected);
    });
  }

  it('offers the tools of the assets', () =>
    assert.deepEqual(toolNames(ITEMS), ['charts.bar', 'charts.pie', 'voice.say']));

  it('is restored from valid state, and invalid state shows everything', () => {
    const query: Query = { ...DEFAULT_QUERY, search: 'a', kind: 'pdf', sort: 'name' };
    assert.deepEqual(readQuery(JSON.parse(JSON.stringify(query))), query);
    for (const bad of [undefined, null, 7, { kind: 'constructor', search: 3, sort: [] }]) {
      assert.deepEqual(readQuery(bad), DEFAULT_QUERY);
    }
  });
});

it('files that a model made are shown, are linked although no tool returned them, and belong to their chat', () => {
  const name = 'model-image-20261116-093012-V1StGXR8a0-1.png';
  const made = item(name, { uses: [{ chat: 'sales', turn: 2 }] });
  const found = (query: Partial<Query>) =>
    applyQuery([...ITEMS, made], { ...DEFAULT_QUERY, ...query }, NOW).includes(made);
  assert.deepEqual([made.kind, isShown(name, 10_000)], ['image', true]);
  assert.deepEqual(
    [{ search: 'sales model-image' }, { kind: 'image' }, { tool: UNLINKED }, { tool: 'charts.bar' }].map(
      (query) => found(query as Partial<Query>),
    ),
    [true, true, false, false],
  );
});

describe('files that a tile may load', () => {
  for (const [name, bytes, expected] of [
    ['a.png', 10_000, true],
    ['a.PNG', 10_000, true],
    ['a.png', 100_000_000, false],
    ['a.png', 0, false],
    ['a.svg', 100, false],
    ['a.html', 100, false],
    ['a.xml', 100, false],
    ['a.txt', 100, true],
    ['a.exe', 100, false],
    ['.png', 100, false],
  ] as const) {
    it(`${name} of ${bytes} bytes: ${expected}`, () => assert.equal(isShown(name, bytes), expected));
  }
});

describe('a message of the page', () => {
  it('is accepted when it is valid', () => {
    for (const message of [
      { kind: 'ready' },
      { kind: 'scope', scope: 'workspace' },
      { kind: 'act', action: 'delete', ids: ['a'] },
    ] as const) {
      assert.deepEqual(readFromPage(message), message);
    }
  });
  for (const bad of [
    undefined,
    'ready',
    { kind: 'scope', scope: '/etc' },
    { kind: 'act', action: 'constructor', ids: [] },
    { kind: 'act', action: 'delete', ids: 'all' },
    { kind: 'act', action: 'delete', ids: [{ path: '/etc/passwd' }] },
  ]) {
    it(`is rejected: ${JSON.stringify(bad)}`, () => assert.equal(readFromPage(bad), undefined));
  }
});

it('only changes are sent', () => {
  const map = (...items: readonly GalleryItem[]) => new Map(items.map((each) => [each.id, each]));
  const [a = item('a'), b = item('b'), c = item('c')] = ITEMS;
  const renewed = { ...b, bytes: 7 };
  assert.deepEqual(changesBetween(map(a, b), map({ ...a }, renewed, c)), { put: [renewed, c], gone: [] });
  assert.deepEqual(changesBetween(map(a, b), map(a)), { put: [], gone: [b.id] });
});

describe('a selection', () => {
  const shown = ['a', 'b', 'c', 'd'];
  const chosen = (selection: { readonly chosen: ReadonlySet<string> }) => [...selection.chosen];

  it('grows and shrinks from its anchor', () => {
    const wide = extend(choose('b'), 'd', shown);
    assert.deepEqual(chosen(wide), ['b', 'c', 'd']);
    assert.deepEqual(chosen(extend(wide, 'a', shown)), ['a', 'b']);
  });
  it('toggles single assets, and selects all', () => {
    assert.deepEqual(chosen(toggle(toggle(choose('a'), 'c'), 'a')), ['c']);
    assert.deepEqual(chosen(chooseAll(NOTHING, shown)), shown);
  });
  it('contains only shown assets, and keeps its position', () => {
    const kept = keepShown(toggle(choose('a'), 'c'), ['a', 'd'], 2);
    assert.deepEqual(chosen(kept), ['a']);
    assert.equal(kept.active, 'd');
    assert.equal(keepShown(choose('a'), [], 0).active, undefined);
  });
});

describe('keys in a grid of 3 columns and 8 tiles', () => {
  const grid = { columns: 3, count: 8, pageRows: 2 };
  for (const [key, from, to] of [
    ['ArrowRight', 2, 3],
    ['ArrowRight', 7, 7],
    ['ArrowLeft', 0, 0],
    ['ArrowDown', 1, 4],
    ['ArrowDown', 5, 7],
    ['ArrowDown', 7, 7],
    ['ArrowUp', 4, 1],
    ['ArrowUp', 1, 1],
    ['PageDown', 1, 7],
    ['PageUp', 7, 1],
    ['Home', 5, 0],
    ['End', 0, 7],
    ['constructor', 1, undefined],
    ['Enter', 1, undefined],
  ] as const) {
    it(`${key} at ${from} → ${to}`, () => assert.equal(moveBy(key, from, grid), to));
  }
  it('do nothing in an empty grid', () => assert.equal(moveBy('End', 0, { ...grid, count: 0 }), undefined));
});

describe('the pages of a PDF', () => {
  for (const [text, pages] of [
    ['%PDF-1.4 /Type /Pages /Kids [3 0 R] /Count 12 >>', 12],
    ['%PDF-1.4 << /Count 2 /Type/Pages >> << /Type /Pages /Count 5 >>', 5],
    ['%PDF-1.7 1 0 obj << /Linearized 1 /L 4 /N 31 /T 1 >> /Type /Pages /Count 4', 31],
    ['%PDF-1.7 packed', undefined],
    ['/Type /Outlines /Count 9 >>', undefined],
  ] as const) {
    it(`${text} → ${pages}`, () => assert.equal(countPdfPages(text), pages));
  }
});

it('the peaks of audio are scaled to the loudest', () => {
  assert.deepEqual(peaksOf(Float32Array.of(0, 0.25, -0.5, 0), 2), [0.5, 1]);
  assert.deepEqual(peaksOf(new Float32Array(4), 2), [0, 0]);
  assert.deepEqual(peaksOf(new Float32Array(), 2), []);
  assert.deepEqual([3.2, 67, 600].map(describeDuration), ['0:03', '1:07', '10:00']);
});

it('placeholders in values are not replaced', () => {
  assert.equal(fillIn('{0} of {1}, {2}', '{1}', 3), '{1} of 3, {2}');
});
