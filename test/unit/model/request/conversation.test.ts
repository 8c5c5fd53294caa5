import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ChatConversation, type ConversationDeps } from '../../../../src/model/request/conversation.ts';
import { createTourModel } from '../../../../src/model/tour.ts';
import type { ToolHost, ToolInfo } from '../../../../src/ports/tools.ts';
import { MemoryAttachments } from './requests.ts';

const tool = (server: string, name: string): ToolInfo => ({ server, tool: name, inputSchema: {} });
const TOOLS = [tool('charts', 'bar'), tool('charts', 'line'), tool('files', 'read')];

/** Lists the tools above, records the requests, and has one server that does not respond. */
class FakeHost implements ToolHost {
  readonly asked: (string | undefined)[] = [];

  async listTools(server?: string) {
    this.asked.push(server);
    const failures = [{ server: 'broken', reason: 'broken does not start.' }];
    return {
      tools: TOOLS.filter((each) => server === undefined || each.server === server),
      failures: failures.filter((each) => server === undefined || each.server === server),
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
    ...more,
  });
  const prepare = (text: string) => conversation.prepare(text, new AbortController().signal);
  return { conversation, prepare, host, models };
}

const chat = (...front: readonly string[]) => `---\n${front.join('\n')}\n---\n# %% user\nHello\n`;
const toolNames = async (text: string, more?: Partial<ConversationDeps>) =>
  (await converse(more).prepare(text)).request.tools.map(({ name }) => name);

describe('a request is prepared', () => {
  it('for the model that the chat names, or for the default one', async () => {
    const { prepare, models } = converse();
    await prepare(chat('model: sonnet'));
    await prepare('# %% user\nHello\n');
    assert.deepEqual(models, ['sonnet', undefined]);
  });

  it('with all tools; a server that does not respond is a note', async () => {
    const { request, notes } = await converse().prepare('# %% user\nHello\n');
    assert.deepEqual(
      request.tools.map(({ name }) => name),
      ['charts__bar', 'charts__line', 'files__read'],
    );
    assert.deepEqual(notes, ['broken does not start.']);
  });

  it('with the tools that the chat allows, from those servers only', async () => {
    assert.deepEqual(await toolNames(chat('tools: ["*.read", charts.bar]')), ['charts__bar', 'files__read']);
    const { prepare, host } = converse();
    const { notes } = await prepare(chat('servers: [files]'));
    assert.deepEqual([host.asked, notes], [['files'], []]);
  });

  it('without starting servers whose tools the chat cannot use', async () => {
    const servers = async () => ['charts', 'files', 'broken'];
    const { prepare, host } = converse({ servers });
    await prepare(chat('tools: [charts.bar]'));
    assert.deepEqual(host.asked, ['charts']);
  });

  it('without the tools that are for apps only', async () => {
    const tools = [...TOOLS, { ...tool('charts', 'zoom'), forAppsOnly: true as const }];
    const host = Object.assign(new FakeHost(), { listTools: async () => ({ tools, failures: [] }) });
    assert.ok(!(await toolNames('# %% user\nHello\n', { tools: host })).includes('charts__zoom'));
  });

  it('only if the model exists', async () => {
    const findModel = () => Promise.reject(new Error('There is no model “x”.'));
    await assert.rejects(converse({ findModel }).prepare(chat('model: x')), {
      message: 'There is no model “x”.',
    });
  });
});

describe('server instructions', () => {
  const SAID = ['charts', 'files', 'apps'].map((server) => ({ server, text: `This is ${server}.` }));
  const tools: ToolHost = {
    listTools: async (server) => ({
      tools: [...TOOLS, { ...tool('apps', 'zoom'), forAppsOnly: true as const }].filter(
        (each) => server === undefined || each.server === server,
      ),
      failures: [],
      instructions: SAID.filter((each) => server === undefined || each.server === server),
    }),
    callTool: async () => ({ isError: false, parts: [] }),
  };
  const systemOf = async (text: string) => (await converse({ tools }).prepare(text)).request.system;

  it('are sent after the user’s system text, for servers with an allowed tool', async () => {
    const system = await systemOf(chat('system: Be brief.'));
    assert.match(
      system,
      /^Be brief\.[\s\S]*not of the user[\s\S]*\n\ncharts:\n> This is charts\.\n\nfiles:\n> This is files\.$/,
    );
  });

  it('are not sent for servers without an allowed tool', async () => {
    const system = await systemOf(chat('tools: [files.read]'));
    assert.match(system, /This is files/);
    assert.doesNotMatch(system, /charts/);
    assert.doesNotMatch(await systemOf(chat('tools: []')), /This is/);
  });

  it('come from each server that the chat names', async () => {
    assert.match(
      await systemOf(chat('servers: [files, charts]')),
      /> This is charts\.\n\nfiles:\n> This is f/,
    );
  });
});

describe('a server that does not respond', () => {
  /** Lists the tools of all servers except one, which never responds, and records the waits. */
  function hang(server: string) {
    const host = new FakeHost();
    const waited: number[] = [];
    const stopped: AbortSignal[] = [];
    let timeIsOver = () => {};
    const listTools: ToolHost['listTools'] = (name) =>
      name === server ? new Promise(() => timeIsOver()) : host.listTools(name);
    const wait = (ms: number, signal: AbortSignal) => {
      waited.push(ms);
      stopped.push(signal);
      return new Promise<void>((resolve) => {
        const before = timeIsOver;
        // Time passes only for the server that hangs: its tools are requested after its timer was started.
        timeIsOver = () => {
          before();
          resolve();
        };
      });
    };
    return { tools: { listTools, callTool: host.callTool }, wait, waited, stopped };
  }

  it('is left out after ten seconds with a note', async () => {
    const { tools, wait, waited, stopped } = hang('files');
    const { request, notes } = await converse({ tools, wait }).prepare(chat('servers: [files, charts]'));
    assert.deepEqual(
      request.tools.map(({ name }) => name),
      ['charts__bar', 'charts__line'],
    );
    assert.deepEqual(notes, [
      'Server files did not answer within 10 s: this request goes without its tools.',
    ]);
    assert.deepEqual(waited, [10_000, 10_000]);
    assert.ok(stopped.every((signal) => signal.aborted));
  });

  it('has as much time as configured', async () => {
    const { tools, wait, waited } = hang('files');
    const { notes } = await converse({ tools, wait, maxListMs: 60_000 }).prepare(chat('servers: [files]'));
    assert.deepEqual(waited, [60_000]);
    assert.match(notes.join(), /^Server files did not answer within 60 s:/);
  });

  it('does not delay a chat that does not use it', async () => {
    const { tools, wait } = hang('files');
    const { notes } = await converse({ tools, wait }).prepare(chat('servers: [charts]'));
    assert.deepEqual(notes, []);
  });

  it('ends with the aborted request', async () => {
    const abort = new AbortController();
    const tools: ToolHost = {
      listTools: (_server, signal) =>
        new Promise((_, reject) => {
          signal?.addEventListener('abort', () => reject(signal.reason));
          abort.abort(new Error('Called off.'));
        }),
      callTool: async () => ({ isError: false, parts: [] }),
    };
    const { conversation } = converse({ tools, wait: () => new Promise(() => {}) });
    const prepared = conversation.prepare(chat('servers: [files]'), abort.signal);
    await assert.rejects(prepared, { message: 'Called off.' });
  });
});

describe('an agent', () => {
  const readAgent = async (name: string) =>
    name === 'drawer' ? '---\nmodel: haiku\ntools: ["charts.*"]\nmaxSteps: 3\n---\nYou draw.' : undefined;

  it('provides system text, model and limits', async () => {
    const { prepare, models } = converse({ readAgent });
    const { request } = await prepare(chat('agent: drawer', 'system: Be brief.'));
    assert.ok(request.system.startsWith('You draw.\n\nBe brief.\n\n'));
    assert.equal(request.tools.length, 2);
    assert.deepEqual(models, ['haiku']);
  });

  it('provides the model, unless the chat names one', async () => {
    const { conversation, models } = converse({ readAgent });
    await conversation.model(chat('agent: drawer'));
    await conversation.model(chat('agent: drawer', 'model: sonnet'));
    assert.deepEqual(models, ['haiku', 'sonnet']);
  });

  it('must allow a tool as well', async () => {
    const text = chat('agent: drawer', 'tools: ["*.read", charts.bar]', 'model: sonnet');
    assert.deepEqual(await toolNames(text, { readAgent }), ['charts__bar']);
  });

  it('that is missing or has an invalid name is an error', async () => {
    await assert.rejects(converse({ readAgent }).prepare(chat('agent: nobody')), {
      message: /no agent “nobody”/,
    });
    const greedy = async () => 'secret';
    await assert.rejects(converse({ readAgent: greedy }).prepare(chat('agent: ../../secret')), {
      message: /no agent “\.\.\/\.\.\/secret”/,
    });
  });
});

describe('the rules of a chat', () => {
  it('come from its front matter and can only be stricter than the user’s', async () => {
    const { conversation } = converse({ maxSteps: () => 10 });
    const rules = await conversation.rules(chat('approve: ask', 'maxSteps: 99', 'tools: [charts.bar]'));
    assert.deepEqual([rules.approve, rules.maxSteps], ['ask', 10]);
    assert.deepEqual(
      TOOLS.map((each) => rules.allows(each)),
      [true, false, false],
    );
    assert.equal((await conversation.rules(chat('maxSteps: 2'))).maxSteps, 2);
  });

  it('are empty without front matter', async () => {
    const rules = await converse().conversation.rules('# %% user\nHello\n');
    assert.deepEqual(
      [rules.approve, rules.maxSteps, rules.allows(tool('a', 'b'))],
      [undefined, undefined, true],
    );
  });
});
