import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { collectPrompts, collectResources, collectTemplates } from '../../../../src/mcp/lists/definitions.ts';

const ICON = 'data:image/png;base64,AAAA';
const resources = (...list: unknown[]) => collectResources('s', async () => ({ resources: list }));
const prompts = (...list: unknown[]) => collectPrompts('s', async () => ({ prompts: list }));

describe('resources', () => {
  it('are read with all fields', async () => {
    const said = {
      uri: 'demo://a',
      name: 'a',
      title: 'A',
      description: 'D',
      mimeType: 'text/plain',
      size: 5,
    };
    const { items, notices } = await resources({ ...said, icons: [{ src: ICON }] });
    assert.deepEqual([items, notices], [[{ server: 's', ...said, icon: ICON }], []]);
  });

  it('are sorted by priority, otherwise in the order of the server', async () => {
    const { items } = await resources(
      ...[0.1, undefined, 1, undefined].map((priority, at) => ({
        uri: `demo://${at}`,
        name: 'a',
        annotations: { priority },
      })),
    );
    assert.deepEqual(
      items.map(({ uri }) => uri),
      ['demo://2', 'demo://1', 'demo://3', 'demo://0'],
    );
  });

  const dropped: Readonly<Record<string, object>> = {
    'an invalid type': { mimeType: 'text' },
    'a type with a line break': { mimeType: 'text/plain\r\nX: 1' },
    'a size below zero': { size: -1 },
    'a fractional size': { size: 1.5 },
    'a size that is text': { size: '5' },
    'an invalid title': { title: {} },
    'an invalid priority': { annotations: { priority: 7 } },
  };
  for (const [what, more] of Object.entries(dropped)) {
    it(`are read without ${what}`, async () => {
      const { items } = await resources({ uri: 'demo://a', name: 'a', ...more });
      assert.deepEqual(items, [{ server: 's', uri: 'demo://a', name: 'a' }]);
    });
  }

  const large: readonly (readonly [more: object, isLarge: true | undefined])[] = [
    [{ size: 1024 * 1024 }, undefined],
    [{ size: 1024 * 1024 + 1 }, true],
    [{ _meta: { largeFileWarning: true } }, true],
    [{ _meta: { largeFileWarning: 'yes' } }, undefined],
    [{ _meta: null }, undefined],
  ];
  for (const [more, isLarge] of large) {
    it(`with ${JSON.stringify(more)} are ${isLarge ? '' : 'not '}large`, async () => {
      const { items } = await resources({ uri: 'demo://a', name: 'a', ...more });
      assert.equal(items[0]?.isLarge, isLarge);
    });
  }

  it('keep a type with parameters', async () => {
    const { items } = await resources({ uri: 'a:b', name: 'a', mimeType: 'text/html;profile=mcp-app' });
    assert.equal(items[0]?.mimeType, 'text/html;profile=mcp-app');
  });

  it('without a name use their address, and long names are shortened', async () => {
    const { items } = await resources({ uri: 'a:1' }, { uri: 'a:2', name: 'x'.repeat(1e6) });
    assert.equal(items[0]?.name, 'a:1');
    assert.match(items[1]?.name ?? '', /^x{200}… \(1000000 characters\)$/);
  });

  it('with an invalid or repeated address are omitted', async () => {
    const { items, notices } = await resources(
      { name: 'none' },
      { uri: '' },
      { uri: `a:${'x'.repeat(9000)}` },
      { uri: 'a:\u202eb' },
      { uri: 'a:1' },
      { uri: 'a:1', name: 'again' },
      null,
    );
    assert.deepEqual(
      items.map(({ uri }) => uri),
      ['a:1'],
    );
    assert.equal(notices.length, 6);
    assert.match(notices.join('\n'), /Resource 1 of 7 is ignored: it has no address\./);
    assert.match(notices.join('\n'), /address "a:⟦U\+202E⟧b" is empty, too long, or/);
    assert.match(notices.join('\n'), /Resource "a:1" is listed twice/);
  });

  it('come from all pages, and items before a failure are kept', async () => {
    const found = await collectResources('s', async (_method, { cursor }) => {
      if (cursor === '2') throw new Error('it crashed');
      return { resources: [{ uri: `a:${cursor}` }], nextCursor: cursor === undefined ? '1' : '2' };
    });
    assert.deepEqual(
      [found.items.map(({ uri }) => uri), found.failure],
      [['a:undefined', 'a:1'], 'it crashed'],
    );
  });
});

describe('templates', () => {
  it('are read like resources', async () => {
    const said = { uriTemplate: 'demo://{id}', name: 'n', title: 'T', mimeType: 'text/plain' };
    const { items, notices } = await collectTemplates('s', async () => ({
      resourceTemplates: [said, said, { uriTemplate: 7 }],
    }));
    assert.deepEqual(items, [{ server: 's', ...said }]);
    assert.equal(notices.length, 2);
  });

  it('that are not a list are a failure', async () => {
    const { failure } = await collectTemplates('s', async () => ({}));
    assert.equal(failure, 'its response has no list of templates');
  });
});

describe('prompts', () => {
  it('are read with their arguments', async () => {
    const { items } = await prompts({
      name: 'ask',
      title: 'Ask',
      arguments: [{ name: 'city', description: 'Where', required: true }, { name: 'when' }, { name: 'when' }],
      icons: [{ src: ICON }],
    });
    assert.deepEqual(items, [
      {
        server: 's',
        prompt: 'ask',
        title: 'Ask',
        arguments: [
          { name: 'city', description: 'Where', required: true },
          { name: 'when', required: false },
        ],
        icon: ICON,
      },
    ]);
  });

  it('that are invalid are omitted', async () => {
    const { items, notices } = await prompts(
      { name: 'a', arguments: {} },
      { name: 'b', arguments: [{}] },
      { name: 'c', arguments: new Array(1e6).fill({ name: 'x' }) },
      { name: 'd' },
      { name: 'd' },
      { title: 'nameless' },
    );
    assert.deepEqual(
      items.map(({ prompt }) => prompt),
      ['d'],
    );
    assert.equal(notices.length, 5);
    assert.match(notices.join('\n'), /Prompt 2 of 6 is ignored: of an argument of "b", it has no name\./);
  });
});
