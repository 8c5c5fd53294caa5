import assert from 'node:assert/strict';
import { it } from 'node:test';
import { HI } from '../../unit/loop/scriptedChat.ts';
import { beginning, beginStream, configFor, startRawServer } from '../helpers/modelServer.ts';
import { createCliFolder } from '../helpers/runCli.ts';
import { readWireFiles } from '../wires/wireFile.ts';

// All other endings are in test/wires.
it('a reply without an end is requested three times, then the command line exits with 1 and the reason', async (t) => {
  let count = 0;
  const url = await startRawServer(t, (connection) => {
    count += 1;
    beginStream(connection);
    connection.response.end(beginning('openai-compatible'));
  });
  const cli = await createCliFolder(t);
  await cli.write('a.chat.md', HI);
  await cli.write('models.json', JSON.stringify({ models: { m: configFor('openai-compatible', url) } }));
  const { code, stderr } = await cli.run('run', 'a.chat.md', '--model', 'm', '--models', 'models.json');
  assert.deepEqual([code, count], [1, 3]);
  assert.match(
    stderr,
    /was lost before the reply ended\. Gave up after 3 attempts\.\nRun again to continue\.\n$/,
  );
  assert.match(
    await cli.read('a.chat.md'),
    /^# %% user\nHi\n\n# %% assistant\nHi +\n<!-- filechat:interrupted connection lost -->\n\n# %% user\n$/,
  );
});

/** The others are replayed without the command line. */
const WIRES = [
  ...['openai-chat/done-without-finish-reason', 'anthropic/end-turn-without-message-stop'],
  ...['compatible/vllm-context-error-in-stream', 'errors/status-400-fastapi', 'errors/status-401-plain-text'],
  ...['gateways/plain-text', 'openai-chat/whole-json', 'reasoning/inline-think-tags'],
];

it('the command line writes the chat of a wire, and the reason of the provider', async (t) => {
  const wires = readWireFiles().filter(({ name }) => WIRES.includes(name));
  assert.equal(wires.length, WIRES.length);
  for (const { name, provider, status, headers, pieces, chat, error } of wires) {
    let count = 0;
    const url = await startRawServer(t, ({ response }) => {
      count += 1;
      response.writeHead(status, headers).end(Buffer.concat(pieces));
    });
    const cli = await createCliFolder(t);
    await cli.write('a.chat.md', HI);
    await cli.write('models.json', JSON.stringify({ models: { m: configFor(provider, url) } }));
    const { stderr } = await cli.run('run', 'a.chat.md', '--model', 'm', '--models', 'models.json');
    assert.deepEqual([await cli.read('a.chat.md'), count], [chat, 1], name);
    const said = stderr.replaceAll(new URL(url).host, 'HOST');
    assert.ok(said.includes(error ?? ''), `${name}: ${said}`);
  }
});
