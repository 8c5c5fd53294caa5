/** How often a reply is paid for when its stream ends in an unusual way, on every wire. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createSdkModel } from '../../../src/model/providers/sdkModel.ts';
import type { SdkProvider } from '../../../src/model/providers/wire.ts';
import { HI, scene } from '../../unit/loop/scriptedChat.ts';
import {
  beginning,
  beginStream,
  type Connection,
  configFor,
  ERROR_EVENTS,
  KEY,
  PROVIDERS,
  speak,
  startRawServer,
  toEvent,
} from '../helpers/modelServer.ts';
import { createCliFolder } from '../helpers/runCli.ts';

type Answer = (connection: Connection, provider: SdkProvider) => void;

/** Whole events up to the one with the stop reason. */
function upToStopReason(provider: SdkProvider): string {
  const events = speak(provider, ['Hi ']);
  const sign = /"stop_reason":"end_turn"|response\.completed|"finish_reason":"stop"|"finishReason"/;
  return events.slice(0, events.findIndex((event) => sign.test(event)) + 1).join('');
}

const stream =
  (text: (provider: SdkProvider) => string): Answer =>
  (connection, provider) => {
    beginStream(connection);
    connection.response.end(text(provider));
  };

const tearAfter =
  (text: (provider: SdkProvider) => string): Answer =>
  (connection, provider) => {
    beginStream(connection);
    connection.response.write(text(provider), () => connection.response.destroy());
  };

const plain =
  (text: string): Answer =>
  ({ response }) =>
    response.writeHead(200, { 'content-type': 'text/plain' }).end(text);

/** The same in the format of another provider. */
const OTHER: Readonly<Record<SdkProvider, SdkProvider>> = {
  anthropic: 'openai',
  openai: 'google',
  'openai-chat': 'anthropic',
  'openai-compatible': 'openai',
  google: 'openai-chat',
};

const whole = /^# %% user\nHi\n\n# %% assistant\nHi +\n\n# %% user\n$/;
const interrupted =
  /^# %% user\nHi\n\n# %% assistant\nHi +\n<!-- filechat:interrupted connection lost -->\n\n# %% user\n$/;
const untouched = /^# %% user\nHi\n$/;

const cases: readonly (readonly [rule: string, Answer, requests: number, chat: RegExp])[] = [
  ['[DONE] without a stop reason is an end', stream((p) => `${beginning(p)}data: [DONE]\n\n`), 1, whole],
  ['a stop reason is an end when the stream closes after it', stream(upToStopReason), 1, whole],
  ['a stop reason is an end when the connection breaks after it', tearAfter(upToStopReason), 1, whole],
  ['text without an end is requested three times', stream(beginning), 3, interrupted],
  ['a broken connection is tried three times', tearAfter(beginning), 3, interrupted],
  [
    'an error after text is tried three times',
    stream((p) => `${beginning(p)}${toEvent(ERROR_EVENTS[p])}`),
    3,
    interrupted,
  ],
  ['a page is not requested again', plain('<!doctype html>\n<html>Hi</html>\n'), 1, untouched],
  ['lines of JSON are not requested again', plain('{"response":"Hi"}\n{"done":true}\n'), 1, untouched],
  ['a first event that is not JSON is not retried', stream(() => 'data: {oops\n\n'), 1, untouched],
  ['events of another provider are not retried', stream((p) => beginning(OTHER[p])), 1, untouched],
];

// Each waits for its next attempt as a user does, so all of them wait at the same time.
describe('a stream that ends in an unusual way', { concurrency: true }, () => {
  for (const provider of PROVIDERS) {
    for (const [rule, answer, requests, chat] of cases) {
      it(`${provider}: ${rule}`, async (t) => {
        let count = 0;
        const url = await startRawServer(t, (connection) => {
          count += 1;
          answer(connection, provider);
        });
        const model = createSdkModel(configFor(provider, url), { key: KEY });
        const { document, listener } = scene(HI, [], { model });
        const outcome = await listener.run();
        assert.deepEqual([count, outcome.ok], [requests, chat === whole], outcome.error);
        assert.match(document.text(), chat);
        assert.equal(outcome.resumable === true, chat === interrupted);
      });
    }
  }

  it('the command line exits with 1 and the reason', async (t) => {
    let count = 0;
    const url = await startRawServer(t, (connection) => {
      count += 1;
      stream(beginning)(connection, 'openai-compatible');
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
    assert.match(await cli.read('a.chat.md'), interrupted);
  });
});
