import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collectTools } from '../../../../src/mcp/lists/definitions.ts';

const list = (tools: unknown, options?: { readonly paramHeaders: boolean }) =>
  collectTools('s', async () => ({ tools }), options);
const readOne = async (definition: object) => (await list([{ name: 't', ...definition }])).items[0];
const names = (found: Awaited<ReturnType<typeof list>>) => found.items.map(({ tool }) => tool);

describe('a tool is read', () => {
  const PLAIN = { server: 's', tool: 't', inputSchema: { type: 'object' } };
  const cases: Readonly<Record<string, readonly [object, object]>> = {
    'with nothing but its name': [{}, PLAIN],
    'with its title and description': [
      { title: 'T', description: 'D' },
      { title: 'T', description: 'D' },
    ],
    'with the title of its annotations': [{ annotations: { title: 'T' } }, { title: 'T' }],
    'with its hints': [
      { annotations: { readOnlyHint: false, destructiveHint: true } },
      { readOnly: false, destructive: true },
    ],
    'without invalid hints': [{ annotations: { readOnlyHint: 'yes', destructiveHint: 1 } }, {}],
    'with the schema of its output': [
      { outputSchema: { type: 'object', properties: {} } },
      { outputSchema: { type: 'object', properties: {} } },
    ],
    'as one that must be a task': [{ execution: { taskSupport: 'required' } }, { task: 'required' }],
    'as one that may be a task': [{ execution: { taskSupport: 'optional' } }, { task: 'optional' }],
    'as one that cannot be a task': [{ execution: { taskSupport: 'forbidden' } }, {}],
    'with its app': [{ _meta: { ui: { resourceUri: 'ui://a/b' } } }, { app: 'ui://a/b' }],
    'with its app under the older name': [{ _meta: { 'ui/resourceUri': 'ui://a' } }, { app: 'ui://a' }],
    'without an app at another address': [{ _meta: { ui: { resourceUri: 'https://a' } } }, {}],
    'as one for apps only': [{ _meta: { ui: { visibility: ['app'] } } }, { forAppsOnly: true }],
    'as one for models and apps': [{ _meta: { ui: { visibility: ['model', 'app'] } } }, {}],
    'with its icon': [
      { icons: [{ src: 'data:image/png;base64,AAAA' }] },
      { icon: 'data:image/png;base64,AAAA' },
    ],
  };
  for (const [rule, [definition, expected]] of Object.entries(cases)) {
    it(rule, async () => assert.deepEqual(await readOne(definition), { ...PLAIN, ...expected }));
  }

  it('with a shortened description', async () => {
    const tool = await readOne({ description: 'x'.repeat(5_000_000), title: 'y'.repeat(1000) });
    assert.match(tool?.description ?? '', /^x{16000}… \(5000000 characters\)$/);
    assert.match(tool?.title ?? '', /^y{200}… \(1000 characters\)$/);
  });
});

describe('an invalid tool is omitted', () => {
  const cases: Readonly<Record<string, readonly [unknown, RegExp]>> = {
    'without a name': [{}, /^Tool 2 of 3 is ignored: it has no name\.$/],
    'with invisible characters in its name': [
      { name: 'a\u202eb' },
      /name "a⟦U\+202E⟧b" is too long or has invisible characters/,
    ],
    'with a name that is too long': [{ name: 'x'.repeat(1e6) }, /is too long or has invisible characters\.$/],
    'with an input schema that is not an object': [
      { name: 'bad', inputSchema: [] },
      /"bad" cannot be used, because its input schema is not an object\.$/,
    ],
    'when its input schema refers to another address': [
      { name: 'bad', inputSchema: { $ref: 'https://example.com' } },
      /"bad" cannot be used, because its input schema refers to "https:\/\/example.com", which is not fetched\.$/,
    ],
    'when its output schema refers to another address': [
      { name: 'bad', outputSchema: { $ref: 'file:///x' } },
      /"bad" cannot be used, because its output schema refers to "file:/,
    ],
    'when it is listed twice': [
      { name: 'first', title: 'Other' },
      /^Tool "first" is listed twice; the first/,
    ],
  };
  for (const [rule, [definition, notice]] of Object.entries(cases)) {
    it(rule, async () => {
      const found = await list([{ name: 'first' }, definition, { name: 'last' }]);
      assert.deepEqual(names(found), ['first', 'last']);
      assert.equal(found.notices.length, 1);
      assert.match(found.notices[0] ?? '', notice);
      assert.ok((found.notices[0] ?? '').length < 500);
    });
  }

  it('with invalid headers, where headers are sent', async () => {
    const bad = { name: 'bad', inputSchema: { properties: { a: { type: 'string', 'x-mcp-header': '' } } } };
    const found = await list([bad, { name: 'good' }], { paramHeaders: true });
    assert.deepEqual(names(found), ['good']);
    assert.match(
      found.notices.join(),
      /"bad" cannot be used, because its input schema declares x-mcp-header/,
    );
    assert.deepEqual(names(await list([bad, { name: 'good' }])), ['bad', 'good']);
  });
});

describe('a list of tools', () => {
  const page = (at: number) => ({ tools: [{ name: `t${at}` }], nextCursor: `c${at + 1}` });

  it('is read page by page', async () => {
    const asked: (string | undefined)[] = [];
    const found = await collectTools('s', async (_method, { cursor }) => {
      asked.push(cursor);
      return cursor === undefined ? page(0) : cursor === 'c1' ? page(1) : { tools: [{ name: 't2' }] };
    });
    assert.deepEqual(
      [asked, names(found)],
      [
        [undefined, 'c1', 'c2'],
        ['t0', 't1', 't2'],
      ],
    );
    assert.deepEqual(found.notices, []);
  });

  it('with a cycle of cursors is read once, without duplicates', async () => {
    const pages = [page(0), page(1), { ...page(2), nextCursor: 'c1' }];
    let asked = 0;
    const found = await collectTools('s', async (_method, { cursor }) => {
      asked += 1;
      return pages[Number(cursor?.slice(1) ?? 0)];
    });
    assert.deepEqual([asked, names(found)], [3, ['t0', 't1', 't2']]);
    assert.deepEqual(found.notices, ['The list of tools repeats itself; it was read once.']);
  });

  it('without end is cut', async () => {
    let asked = 0;
    const found = await collectTools('s', async () => page(asked++));
    assert.deepEqual([asked, found.items.length], [101, 101]);
    assert.deepEqual(found.notices, ['The list of tools was cut after 101.']);
  });

  it('of empty pages without end is cut, too', async () => {
    let asked = 0;
    const found = await collectTools('s', async () => ({ tools: [], nextCursor: `${asked++}` }));
    assert.deepEqual([asked, found.notices], [101, ['The list of tools was cut after 0.']]);
  });

  it('ends at a cursor that is too long', async () => {
    const found = await collectTools('s', async () => ({ ...page(0), nextCursor: 'x'.repeat(1e6) }));
    assert.deepEqual(names(found), ['t0']);
    assert.match(found.notices.join(), /was cut after 1\./);
  });

  it('of a million tools is cut', async () => {
    const found = await list(Array.from({ length: 1e6 }, (_, at) => ({ name: `t${at}` })));
    assert.equal(found.items.length, 1000);
    assert.deepEqual(found.notices, ['The list of tools was cut after 1000.']);
  });

  it('of the maximum size is complete', async () => {
    const found = await list(Array.from({ length: 1000 }, (_, at) => ({ name: `t${at}` })));
    assert.deepEqual([found.items.length, found.notices], [1000, []]);
  });

  it('of a million invalid tools is not read to its end, with few notices', async () => {
    let looked = 0;
    const bad = {
      get name() {
        looked += 1;
        return 5;
      },
    };
    const found = await list(new Array(1e6).fill(bad));
    // For its size, and for its name.
    assert.equal(looked, 2 * 10_000);
    assert.equal(found.notices.length, 22);
    assert.deepEqual(found.notices.slice(20), [
      '9980 more entries are ignored.',
      'The list of tools was cut after 0.',
    ]);
  });

  it('that fails keeps its first tools and reports the reason', async () => {
    const found = await collectTools('s', async (_method, { cursor }) => {
      if (cursor !== undefined) throw new Error('it crashed');
      return page(0);
    });
    assert.deepEqual([names(found), found.failure], [['t0'], 'it crashed']);
  });

  it('that is not a list is a failure', async () => {
    assert.equal((await list({ name: 't' })).failure, 'its response has no list of tools');
  });
});
