import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { describeTools } from '../../../../src/catalog/tools/answerCall.ts';
import {
  answerResourceCall,
  type ResourceAccess,
  type ResourceHost,
} from '../../../../src/catalog/tools/resourceTools.ts';
import type { ResultAssets, ToolResult } from '../../../../src/ports/results.ts';
import type { ResourceInfo, ResourceName } from '../../../../src/ports/servers.ts';
import { tokensAtMost } from '../../../../src/result/modelView.ts';

const ASSETS: ResultAssets = {
  spillFolder: () => assert.fail('Nothing is spilled.'),
  save: () => assert.fail('Nothing is saved.'),
};

class Host implements ResourceHost {
  readonly read: ResourceName[] = [];
  readonly listed: string[] = [];
  readonly resources: Record<string, readonly ResourceInfo[]>;

  constructor(resources: Record<string, readonly ResourceInfo[]> = {}) {
    this.resources = resources;
  }

  async states() {
    return new Map(Object.keys(this.resources).map((name) => [name, { kind: 'idle' } as const]));
  }

  async listResources(server: string) {
    this.listed.push(server);
    const resources = this.resources[server];
    return resources
      ? { resources, templates: [] }
      : { resources: [], templates: [], failure: 'It is\ngone.' };
  }

  async readResource(resource: ResourceName): Promise<ToolResult> {
    this.read.push(resource);
    return { isError: false, parts: resource.uri === 'x:empty' ? [] : [{ kind: 'text', text: 'words' }] };
  }
}

const info = (server: string, name: string, more: Partial<ResourceInfo> = {}): ResourceInfo => ({
  server,
  name,
  uri: `x:${name}`,
  ...more,
});

const call = async (
  tool: 'list_resources' | 'read_resource',
  args: unknown,
  {
    host = new Host(),
    mayUse = (_server: string) => true,
    ...access
  }: Partial<ResourceAccess> & {
    readonly mayUse?: (server: string) => boolean;
  } = {},
): Promise<string> => {
  const { parts } = await answerResourceCall({ tool, args }, { host, ...access }, { assets: ASSETS, mayUse });
  return parts.map((part) => (part.kind === 'text' ? part.text : part.kind)).join('\n');
};

describe('the tools for resources', () => {
  it('cost few tokens, are read-only, and say which argument names a server', () => {
    const tools = describeTools('filechat').filter(({ needsResources }) => needsResources);
    assert.deepEqual(
      tools.map(({ tool, readOnly, serverArgument }) => [tool, readOnly, serverArgument]),
      [
        ['list_resources', true, undefined],
        ['read_resource', true, 'server'],
      ],
    );
    for (const { description = '', inputSchema } of tools) {
      assert.ok(tokensAtMost(description + JSON.stringify(inputSchema)) < 300, description);
    }
  });
});

describe('read_resource', () => {
  const cases: Readonly<Record<string, readonly [args: object, uri: string]>> = {
    'an address': [{ uri: 'x:a' }, 'x:a'],
    'a template, with values of any simple type': [
      { uri: 'x:{a}/{b}{?c}', arguments: { a: 'ä/b', b: 7, c: true } },
      'x:%C3%A4%2Fb/7?c=true',
    ],
    'a template without its optional values': [{ uri: 'x:a{?c}', arguments: null }, 'x:a'],
  };
  for (const [name, [args, uri]] of Object.entries(cases)) {
    it(`reads ${name}`, async () => {
      const host = new Host();
      assert.equal(await call('read_resource', { server: 'a', ...args }, { host }), 'words');
      assert.deepEqual(host.read, [{ server: 'a', uri }]);
    });
  }

  const refused: Readonly<Record<string, readonly [args: object, reason: RegExp]>> = {
    'without a server': [{ uri: 'x:a' }, /server must be a string/],
    'without an address': [{ server: 'a' }, /uri must be a string/],
    'with a very long address': [{ server: 'a', uri: 'x'.repeat(9000) }, /uri must have at most 8192/],
    'with a value that is an object': [
      { server: 'a', uri: 'x:{a}', arguments: { a: {} } },
      /The arguments of read_resource are invalid: arguments must contain plain values/,
    ],
    'of a template without its values': [
      { server: 'a', uri: 'x:{a}' },
      /Give values in its arguments for: a/,
    ],
    'of a server that the chat does not allow': [
      { server: 'no', uri: 'x:a' },
      /does not allow the server “no”/,
    ],
    'of a server that the user does not allow': [{ server: 'ask', uri: 'x:a' }, /^Error: Declined\.$/],
  };
  for (const [name, [args, reason]] of Object.entries(refused)) {
    it(`reads nothing ${name}`, async () => {
      const host = new Host();
      const refusal = async (server: string) => (server === 'ask' ? 'Declined.' : undefined);
      const mayUse = (server: string) => server !== 'no';
      await assert.rejects(call('read_resource', args, { host, refusal, mayUse }), reason);
      assert.deepEqual(host.read, []);
    });
  }

  it('says that a resource is empty', async () => {
    await assert.rejects(
      call('read_resource', { server: 'a', uri: 'x:empty' }),
      /The resource x:empty is empty/,
    );
  });
});

describe('list_resources', () => {
  it('has a line for each, by server, and a note for a server that fails', async () => {
    const host = new Host({ a: [info('a', 'one', { mimeType: 'text/csv', size: 1234 })], b: [] });
    assert.equal(await call('list_resources', {}, { host }), 'Server a:\n- one (text/csv, 1.2 KB): x:one');
    assert.equal(
      await call('list_resources', { server: 'c' }, { host }),
      'No matching resources.\nNote: server c: It is gone.',
    );
  });

  it('starts no server that the chat does not allow', async () => {
    const host = new Host({ a: [], b: [] });
    assert.equal(
      await call('list_resources', {}, { host, mayUse: (name) => name === 'b' }),
      'No matching resources.',
    );
    assert.deepEqual(host.listed, ['b']);
  });

  it('is cut to a budget, and a filter reaches the rest', async () => {
    const many = Array.from({ length: 1000 }, (_, n) =>
      info('a', `entry ${n}`, { uri: `x:${'y'.repeat(80)}${n}` }),
    );
    const host = new Host({ a: many, b: [info('b', 'late')] });
    const text = await call('list_resources', {}, { host });
    assert.ok(text.length < 9000);
    assert.match(text, /\n\d\d of 1001 are shown\. Use filter for the others\.$/);
    assert.equal(await call('list_resources', { filter: 'LATE x:' }, { host }), 'Server b:\n- late: x:late');
    const huge = new Host({ a: [info('a', 'huge', { uri: `x:${'y'.repeat(8000)}` })] });
    assert.match(await call('list_resources', {}, { host: huge }), /^Server a:\n- huge: x:y+$/);
  });

  it('shows names without what could hide or break a line', async () => {
    const host = new Host({ a: [info('a', 'a\n- b\u202e', { title: `c\t${'d'.repeat(500)}` })] });
    assert.match(await call('list_resources', {}, { host }), /^Server a:\n- c d{98}: x:/);
  });
});
