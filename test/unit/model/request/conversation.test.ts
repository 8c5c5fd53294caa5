import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  ChatConversation,
  type ConversationDeps,
  isAgentName,
  readAgent,
} from '../../../../src/model/request/conversation.ts';
import { createTourModel } from '../../../../src/model/tour.ts';
import type { PreparedRequest } from '../../../../src/ports/models.ts';
import type { ToolHost, ToolInfo } from '../../../../src/ports/tools.ts';
import { MemoryAttachments } from './requests.ts';

const tool = (server: string, name: string): ToolInfo => ({ server, tool: name, inputSchema: {} });
const TOOLS = [tool('charts', 'bar'), tool('charts', 'line'), tool('files', 'read')];
const APP_TOOL = { ...tool('apps', 'zoom'), forAppsOnly: true as const };
const PLAIN = '# %% user\nHello\n';

/** Records the requests for lists, and has one server that does not start. */
class FakeHost implements ToolHost {
  readonly asked: string[] = [];

  async listTools(server = '') {
    this.asked.push(server);
    const isListed = (each: { readonly server: string }) => each.server === server;
    return {
      tools: [...TOOLS, APP_TOOL].filter(isListed),
      failures: [{ server: 'broken', reason: 'broken does not start.' }].filter(isListed),
      instructions: ['charts', 'files', 'apps']
        .map((each) => ({ server: each, text: `This is ${each}.` }))
        .filter(isListed),
    };
  }

  async callTool(): Promise<never> {
    throw new Error('Nothing is called here.');
  }
}

function converse(more: Partial<ConversationDeps> = {}) {
  const host = new FakeHost();
  const models: (string | undefined)[] = [];
  const conversation = new ChatConversation({
    findModel: async (name) => {
      models.push(name);
      return createTourModel();
    },
    tools: host,
    attachments: new MemoryAttachments(),
    readAgent: async () => undefined,
    servers: async () => ['charts', 'files', 'apps', 'broken'],
    ...more,
  });
  const prepare = (text: string) => conversation.prepare(text, new AbortController().signal);
  return { conversation, prepare, host, models };
}

const chat = (...front: readonly string[]) => `---\n${front.join('\n')}\n---\n${PLAIN}`;
const namesOf = ({ request }: PreparedRequest) => request.tools.map(({ name }) => name).join(' ');

describe('a request is prepared', () => {
  /** The names of the tools, the servers whose lists were requested, and the notes. */
  const prepared = async (text: string) => {
    const { prepare, host } = converse();
    const found = await prepare(text);
    return [namesOf(found), host.asked.join(' '), ...found.notes];
  };

  it('with a note for each of the first problems in its settings', async () => {
    const [, , ...notes] = await prepared(
      chat('servers: []', ...Array.from({ length: 1500 }, (_, at) => `k${at}: 1`)),
    );
    assert.equal(notes.length, 20);
    assert.equal(notes[0], 'Line 3 of the front matter: Unknown setting “k0”; it is ignored.');
  });

  it('with all tools but those for apps only; a server that does not respond is a note', async () => {
    assert.deepEqual(await prepared(PLAIN), [
      'charts__bar charts__line files__read',
      'charts files apps broken',
      'broken does not start.',
    ]);
  });

  it('with the tools that the chat allows', async () => {
    const [tools] = await prepared(chat('tools: ["*.read", charts.bar]'));
    assert.equal(tools, 'charts__bar files__read');
  });

  it('from the servers that the chat names', async () => {
    assert.deepEqual(await prepared(chat('servers: [files]')), ['files__read', 'files']);
  });

  it('without starting servers whose tools the chat cannot use', async () => {
    assert.deepEqual(await prepared(chat('tools: [charts.bar]')), ['charts__bar', 'charts']);
  });

  it('for the model that the chat names, or for the default one', async () => {
    const { prepare, models } = converse();
    await prepare(chat('model: sonnet'));
    await prepare(PLAIN);
    assert.deepEqual(models, ['sonnet', undefined]);
  });

  it('only if the model exists', async () => {
    const message = 'There is no model “x”.';
    const findModel = () => Promise.reject(new Error(message));
    await assert.rejects(converse({ findModel }).prepare(chat('model: x')), { message });
  });
});

describe('server instructions', () => {
  const both = 'charts:\n> This is charts.\n\nfiles:\n> This is files.';
  const cases = [
    ['are sent after the user’s system text, for servers with an allowed tool', 'system: Be brief.', both],
    ['are not sent for servers without an allowed tool', 'tools: [files.read]', 'files:\n> This is files.'],
    ['are not sent if no tool is allowed', 'tools: []', ''],
    ['come from each server that the chat names', 'servers: [files, charts]', both],
  ] as const;
  for (const [rule, front, expected] of cases) {
    it(rule, async () => {
      const { system } = (await converse().prepare(chat(front))).request;
      const [own = '', said = ''] = system.split(/\n\n[^\n]*not from the user[^\n]*\n\n/);
      assert.equal(said, expected);
      assert.equal(own.startsWith('Be brief.'), front.startsWith('system'));
    });
  }
});

describe('tools for resources', () => {
  const READER = {
    server: 'filechat',
    tool: 'read_resource',
    inputSchema: {},
    needsResources: true,
  } as const;
  const cases = {
    'are offered if a server of the chat has resources': ['servers: [filechat, docs]', true],
    'need not be named with the servers of the chat': ['servers: [docs]', true],
    'are not offered if only other servers have some': ['servers: [filechat, charts]', false],
    'are not offered if the chat does not allow them': [
      'servers: [filechat, docs]\ntools: ["docs.*"]',
      false,
    ],
  } as const;
  for (const [rule, [front, isOffered]] of Object.entries(cases)) {
    it(rule, async () => {
      const listTools: ToolHost['listTools'] = async (server = '') => ({
        tools: server === 'filechat' ? [READER] : [],
        failures: [],
        resourceServers: server === 'docs' ? [server] : [],
      });
      const tools = Object.assign(new FakeHost(), { listTools });
      const hasBuiltInTools = () => true;
      const prepared = await converse({ tools, hasBuiltInTools }).prepare(chat(...front.split('\n')));
      assert.equal(namesOf(prepared), isOffered ? 'filechat__read_resource' : '');
    });
  }

  it('of a configured server named filechat are those of any other server', async () => {
    const { conversation, prepare, host } = converse({ hasBuiltInTools: () => false });
    await prepare(chat('servers: [charts]'));
    assert.deepEqual(host.asked, ['charts']);
    assert.equal((await conversation.rules(chat('servers: [charts]'))).allows(READER), false);
  });
});

describe('a server that does not respond', () => {
  /** Lists the tools of all servers but `files`, which never responds, and records the waits. */
  function hang() {
    const host = new FakeHost();
    const waits: { readonly ms: number; readonly signal: AbortSignal }[] = [];
    const over = Promise.withResolvers<void>();
    const tools: ToolHost = {
      callTool: host.callTool,
      listTools: (name) => {
        if (name !== 'files') return host.listTools(name);
        // Time passes only for this server: its tools are requested after its timer was started.
        over.resolve();
        return new Promise(() => {});
      },
    };
    const wait = (ms: number, signal: AbortSignal) => {
      waits.push({ ms, signal });
      return waits.length === 1 ? over.promise : new Promise<void>(() => {});
    };
    return { tools, wait, waits };
  }

  it('is left out after ten seconds with a note', async () => {
    const { waits, ...deps } = hang();
    const prepared = await converse(deps).prepare(chat('servers: [files, charts]'));
    assert.equal(namesOf(prepared), 'charts__bar charts__line');
    assert.deepEqual(prepared.notes, [
      'Server files did not respond within 10 s, so this request is sent without its tools.',
    ]);
    assert.equal(waits.map(({ ms, signal }) => `${ms} ${signal.aborted}`).join(), '10000 true,10000 true');
  });

  it('has as much time as configured', async () => {
    const { waits, ...deps } = hang();
    const { notes } = await converse({ ...deps, maxListMs: 60_000 }).prepare(chat('servers: [files]'));
    assert.equal(waits.map(({ ms }) => ms).join(), '60000');
    assert.match(notes.join(), /^Server files did not respond within 60 s,/);
  });

  it('does not delay a chat that does not use it', async () => {
    const { waits: _, ...deps } = hang();
    assert.deepEqual((await converse(deps).prepare(chat('servers: [charts]'))).notes, []);
  });

  it('ends with the aborted request', async () => {
    const abort = new AbortController();
    const listTools: ToolHost['listTools'] = (_server, signal) =>
      new Promise((_, reject) => {
        signal?.addEventListener('abort', () => reject(signal.reason));
        abort.abort(new Error('Called off.'));
      });
    const tools = Object.assign(new FakeHost(), { listTools });
    const { conversation } = converse({ tools, wait: () => new Promise(() => {}) });
    const prepared = conversation.prepare(chat('servers: [files]'), abort.signal);
    await assert.rejects(prepared, { message: 'Called off.' });
  });
});

describe('an agent', () => {
  const drawer = {
    readAgent: async (name: string) =>
      name === 'drawer' ? '---\nmodel: haiku\ntools: ["charts.*"]\nmaxSteps: 3\n---\nYou draw.' : undefined,
  };

  it('provides system text, model and limits', async () => {
    const { prepare, models } = converse(drawer);
    const { request } = await prepare(chat('agent: drawer', 'system: Be brief.'));
    assert.ok(request.system.startsWith('You draw.\n\nBe brief.\n\n'));
    assert.equal(request.tools.length, 2);
    assert.deepEqual(models, ['haiku']);
  });

  it('provides the model, unless the chat names one', async () => {
    const { conversation, models } = converse(drawer);
    await conversation.model(chat('agent: drawer'));
    await conversation.model(chat('agent: drawer', 'model: sonnet'));
    assert.deepEqual(models, ['haiku', 'sonnet']);
  });

  it('must allow a tool as well', async () => {
    const text = chat('agent: drawer', 'tools: ["*.read", charts.bar]', 'model: sonnet');
    assert.equal(namesOf(await converse(drawer).prepare(text)), 'charts__bar');
  });

  it('that is missing is an error', async () => {
    await assert.rejects(converse(drawer).prepare(chat('agent: unknown')), { message: /no agent “unknown”/ });
  });

  it('with an invalid name is not read', async () => {
    const deps = { readAgent: async () => 'secret' };
    await assert.rejects(converse(deps).prepare(chat('agent: ../../secret')), {
      message: /no agent “\.\.\/\.\.\/secret”/,
    });
  });

  it('has a name that cannot lead to another folder', () => {
    for (const name of ['reviewer', 'my-agent_2', 'Prüfer']) assert.ok(isAgentName(name), name);
    const bad = [
      '',
      '.',
      '..',
      'a/b',
      'a\\b',
      '../x',
      'a.b',
      'con',
      'C:',
      'a b',
      '-x',
      'x'.repeat(65),
      'a\0',
    ];
    for (const name of bad) assert.equal(isAgentName(name), false, name);
  });

  it('has settings and a system text', () => {
    const cases: readonly (readonly [file: string, settings: object, system: string])[] = [
      ['---\nmodel: s\ntools: ["c.*"]\n---\n\nYou draw.\n', { model: 's', tools: ['c.*'] }, 'You draw.'],
      ['You draw.\n\n---\n\nReally.', {}, 'You draw.\n\n---\n\nReally.'],
      ['---\r\nmodel: x\r\n---\r\nYou draw.\r\n', { model: 'x' }, 'You draw.'],
      ['\uFEFF---\nmodel: x\n---\n', { model: 'x' }, ''],
      ['---\n---\nA', {}, 'A'],
      ['A <!-- for me --> B', {}, 'A  B'],
      ['', {}, ''],
    ];
    for (const [file, settings, system] of cases)
      assert.deepEqual(readAgent(file), { settings, system }, file);
  });
});

describe('the rules of a chat', () => {
  it('come from its front matter and can only be stricter than the user’s', async () => {
    const { conversation } = converse({ maxSteps: () => 10 });
    const rules = await conversation.rules(chat('approve: ask', 'maxSteps: 99', 'tools: [charts.bar]'));
    assert.deepEqual([rules.approve, rules.maxSteps], ['ask', 10]);
    assert.deepEqual(TOOLS.filter(rules.allows), [TOOLS[0]]);
    assert.equal((await conversation.rules(chat('maxSteps: 2'))).maxSteps, 2);
  });

  it('are empty without front matter', async () => {
    const { approve, maxSteps, allows } = await converse().conversation.rules(PLAIN);
    assert.deepEqual([approve, maxSteps, allows(tool('a', 'b'))], [undefined, undefined, true]);
  });
});
