import assert from 'node:assert/strict';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { before, describe, it, type TestContext } from 'node:test';
import type { LLMock } from '@copilotkit/aimock';
import { nextAction } from '../../../src/chat/format/nextAction.ts';
import { parseChat } from '../../../src/chat/format/parse.ts';
import type { SdkProvider } from '../../../src/model/providers/wire.ts';
import { serveHttp } from '../../kit/http.ts';
import { until } from '../../kit/until.ts';
import { needsSignals } from '../../windows/needs.ts';
import { listAssets } from '../helpers/checkBlocks.ts';
import {
  beginning,
  beginStream,
  configFor,
  KEY,
  PROVIDERS,
  speak,
  startMock,
  startRawServer,
  startRecorder,
  textsOf,
} from '../helpers/modelServer.ts';
import { type CliFolder, checkEnd, createCliFolder, MCP_JSON } from '../helpers/runCli.ts';

/** Without servers, which only cost their start where no tool is called. */
const TALK = ['run', 'a.chat.md', '--models', 'models.json'];
const RUN = [...TALK, '--servers', MCP_JSON, '--approve', 'auto'];
before(() => {
  process.env['FILECHAT_KEY_IT'] = KEY;
});

async function createChatFolder(
  t: TestContext,
  provider: SdkProvider,
  url: string,
  chat = '# %% user\nHi\n',
): Promise<CliFolder> {
  const cli = await createCliFolder(t);
  const { name: _name, ...model } = configFor(provider, url);
  await cli.write('models.json', JSON.stringify({ models: { it: model } }));
  await cli.write('a.chat.md', chat);
  return cli;
}

async function startSaying(t: TestContext, content: string): Promise<LLMock> {
  const mock = await startMock(t);
  mock.on({ predicate: () => true }, { content });
  return mock;
}

/** The model calls the chart tool, and then comments on the result. */
function scriptLoop(mock: LLMock): void {
  const says = (request: unknown, text: string) => JSON.stringify(request).includes(text);
  mock.on(
    // By the content of the request: an interrupted one may be sent again.
    { predicate: (request) => says(request, 'sample__chart') && !says(request, '"role":"tool"') },
    {
      content: 'I draw it.',
      toolCalls: [{ name: 'sample__chart', arguments: '{"title":"Sales","values":[3,5,8]}' }],
      finishReason: 'tool_calls',
    },
  );
  mock.on(
    { predicate: (request) => says(request, '"role":"tool"') },
    { content: 'The last bar is the highest.' },
  );
  mock.on({ predicate: () => true }, { content: 'There is no tool that I could use.' });
}

describe('filechat run with a model', () => {
  for (const provider of PROVIDERS) {
    it(`${provider}: two steps with a tool, whose image reaches the model as an image`, async (t) => {
      const mock = await startMock(t);
      scriptLoop(mock);
      const { url, bodies } = await startRecorder(t, mock.url);
      const cli = await createChatFolder(t, provider, url, '# %% user\nPlot 3, 5, 8.\n');
      const end = await cli.run(...RUN);
      const chat = await cli.read('a.chat.md');
      checkEnd(end, { code: 0 });
      assert.match(
        chat,
        /^# %% user\nPlot 3, 5, 8\.\n\n# %% assistant\nI draw it\.\n\n(?:<!-- filechat:metadata .* -->\n\n)?```tool_call sample\.chart c1\n\{"title": "Sales", "values": \[3, 5, 8\]\}\n```\n\n# %% tool sample\.chart c1\n!\[Tool generated image 1\]\(cmdassets\/tool-image-[\w-]+-1\.png\)\n\n# %% assistant\nThe last bar is the highest\.\n\n# %% user\n$/,
        `${chat}\nstderr: ${end.stderr}`,
      );
      const [asset = ''] = await listAssets(cli.path);
      const base64 = (await readFile(join(cli.path, asset))).toString('base64');
      const sent = bodies.at(-1) ?? '';
      assert.equal(sent.split(base64).length, 2, 'the picture goes once');
      assert.equal(textsOf(JSON.parse(sent)).filter((text) => text.includes(base64.slice(0, 80))).length, 0);
    });
  }

  it('a model that reports no tokens leaves no line about them', async (t) => {
    const url = await serveHttp(t, (request, response) => {
      const delta = { choices: [{ index: 0, delta: { content: 'Hello.' } }] };
      const stream = `data: ${JSON.stringify(delta)}\n\ndata: [DONE]\n\n`;
      request.resume().once('end', () => {
        response.writeHead(200, { 'content-type': 'text/event-stream' }).end(stream);
      });
    });
    const cli = await createChatFolder(t, 'openai-compatible', url);
    checkEnd(await cli.run(...TALK), { code: 0, stderr: '' });
  });

  it('a second run of an answered chat sends no request', async (t) => {
    const mock = await startSaying(t, 'Hello.');
    const cli = await createChatFolder(t, 'anthropic', mock.url);
    await cli.run(...TALK);
    const { stderr } = checkEnd(await cli.run(...TALK), { code: 1 });
    assert.match(stderr, /your turn/);
    assert.equal(mock.getRequests().length, 1);
  });

  it(
    'Ctrl+C closes the socket, keeps the reply so far, and leaves a chat that can be resumed',
    needsSignals,
    async (t) => {
      const written = Promise.withResolvers<void>();
      const closed = Promise.withResolvers<void>();
      const url = await startRawServer(t, (connection) => {
        beginStream(connection);
        connection.response.write(beginning('anthropic'), () => written.resolve());
        void connection.closed.then(closed.resolve);
      });
      const cli = await createChatFolder(t, 'anthropic', url);
      const running = cli.start(TALK);
      await written.promise;
      await until(async () => (await cli.read('a.chat.md')).includes('filechat:writing'));
      running.process.kill('SIGINT');
      const end = await running.ended;
      await closed.promise;
      const chat = await cli.read('a.chat.md');
      checkEnd(end, { code: 1 });
      assert.equal(
        chat,
        '# %% user\nHi\n\n# %% assistant\nHi \n<!-- filechat:interrupted stopped -->\n\n# %% user\n',
      );
      assert.equal(nextAction(chat).kind, 'resume');
    },
  );

  it('a correction below a stopped reply is sent, and the reply is unchanged', async (t) => {
    const mock = await startSaying(t, 'Guten Tag.');
    const chat =
      '# %% user\nGreet!\n\n# %% assistant\nHello wor\n<!-- filechat:interrupted stopped -->\n\n# %% user\nIn German!\n';
    const cli = await createChatFolder(t, 'openai-chat', mock.url, chat);
    checkEnd(await cli.run(...TALK), { code: 0 });
    assert.equal(await cli.read('a.chat.md'), `${chat}\n# %% assistant\nGuten Tag.\n\n# %% user\n`);
    assert.match(JSON.stringify(mock.getLastRequest()?.body), /Hello wor.*In German!/);
  });

  it('an interrupted reply continues in its place: “Hello wor” and “Hello world.” are “Hello world.”', async (t) => {
    const mock = await startSaying(t, 'Hello world.');
    const cut =
      '# %% user\nGreet!\n\n# %% assistant\nHello wor\n<!-- filechat:interrupted connection lost -->\n';
    const cli = await createChatFolder(t, 'openai-chat', mock.url, cut);
    checkEnd(await cli.run(...TALK), { code: 0 });
    assert.equal(
      await cli.read('a.chat.md'),
      '# %% user\nGreet!\n\n# %% assistant\nHello world.\n\n# %% user\n',
    );
    assert.equal(JSON.stringify(mock.getLastRequest()?.body).split('Hello wor').length, 2, 'sent once');
  });

  it('an interrupted stream is resumed without repeating a character', async (t) => {
    let asked = 0;
    const url = await startRawServer(t, (connection) => {
      asked += 1;
      beginStream(connection);
      if (asked === 1)
        connection.response.write(beginning('openai-chat'), () => connection.response.destroy());
      else connection.response.end(speak('openai-chat', ['Hi ', 'there.']).join(''));
    });
    const cli = await createChatFolder(t, 'openai-chat', url);
    checkEnd(await cli.run(...TALK), { code: 0 });
    assert.equal(asked, 2);
    assert.equal(await cli.read('a.chat.md'), '# %% user\nHi\n\n# %% assistant\nHi there.\n\n# %% user\n');
  });

  it('stops at --max-steps, and the chat can be continued', async (t) => {
    const mock = await startMock(t);
    const toolCalls = [{ name: 'sample__weather', arguments: '{"city":"Ulm"}' }];
    mock.on({ predicate: () => true }, { toolCalls, finishReason: 'tool_calls' });
    const cli = await createChatFolder(t, 'openai', mock.url, '# %% user\nLoop\n');
    const { stderr } = checkEnd(await cli.run(...RUN, '--max-steps', '3'), { code: 1 });
    assert.match(stderr, /3 steps/);
    const chat = await cli.read('a.chat.md');
    assert.equal(parseChat(chat).turns.filter((turn) => turn.role === 'assistant').length, 3);
    assert.equal(nextAction(chat).kind, 'runTools');
  });

  it('the usual key goes to the usual address only, and the model’s own key anywhere', async (t) => {
    const cli = await createCliFolder(t, { ANTHROPIC_API_KEY: 'sk-usual' });
    const keys: unknown[] = [];
    const baseUrl = await serveHttp(t, ({ headers }, response) => {
      keys.push(headers['x-api-key']);
      response.writeHead(400).end('no');
    });
    const models = { models: { lure: { provider: 'anthropic', model: 'm', baseUrl } } };
    await cli.write('models.json', JSON.stringify(models));
    await cli.write('a.chat.md', '# %% user\nHi\n');
    const args = ['run', 'a.chat.md', '--models', 'models.json', '--model', 'lure'];
    assert.equal((await cli.run(...args)).code, 1);
    const env = { FILECHAT_KEY_LURE: 'sk-lure' };
    assert.equal((await cli.start(args, { env }).ended).code, 1);
    assert.deepEqual(keys, [undefined, 'sk-lure']);
  });

  it('without a key it names the variable to set, and the chat is unchanged', async (t) => {
    const cli = await createCliFolder(t, { ANTHROPIC_API_KEY: '' });
    await cli.write('a.chat.md', '---\nmodel: anthropic/claude-x\n---\n# %% user\nHi\n');
    const { stderr } = checkEnd(await cli.run('run', 'a.chat.md'), { code: 1 });
    assert.match(
      stderr,
      /Set the environment variable ANTHROPIC_API_KEY, or FILECHAT_KEY_ANTHROPIC_CLAUDE_X for/,
    );
    assert.equal(await cli.read('a.chat.md'), '---\nmodel: anthropic/claude-x\n---\n# %% user\nHi\n');
  });
});
