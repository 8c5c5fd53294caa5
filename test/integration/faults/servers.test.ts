/** Faults 31 to 40: servers that crash, hang, flood and lie. The other server always continues to work. */

import assert from 'node:assert/strict';
import { join } from 'node:path';
import { after, describe, test } from 'node:test';
import { ChatConversation } from '../../../src/model/request/conversation.ts';
import { modelTools, toolOfName } from '../../../src/model/request/modelTools.ts';
import type { ChatModel } from '../../../src/ports/models.ts';
import type { ToolInfo } from '../../../src/ports/tools.ts';
import { fingerprintTool, renderDefinition } from '../../../src/vscode/consent/allowedTool.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { serveHttp } from '../../kit/http.ts';
import { until } from '../../kit/until.ts';
import {
  face,
  type Hostility,
  hostileProcess,
  type RecordedMessage,
  readRecord,
  startHostileSite,
  WAYS,
} from '../helpers/hostile.ts';
import { serve, TIMEOUT_MS } from '../helpers/serving.ts';

const MIB = 1024 * 1024;
/** More than any of these needs. */
const MAX_GROWTH_BYTES = 256 * MIB;
/**
 * Together with the 64 MiB that are kept before, this is more than memory may grow. A whole GB takes 20 s. Over HTTP
 * the same filter drops it, so that a little is enough to see the server closed.
 */
const DROPPED_BYTES = { stdio: 208 * MIB, http: 8 * MIB };
const count = (record: readonly RecordedMessage[], tool: string) =>
  record.filter((message) => message.tool === tool).length;

async function goodWorks({ text }: Hostility): Promise<void> {
  assert.equal(await text('good.fine'), 'fine');
}

let canaryHits = 0;
const CANARY = await serveHttp({ after }, (_request, response) => {
  canaryHits += 1;
  response.end('{}');
});
const good = await startHostileSite({ after }, 'plain');

for (const way of WAYS) {
  // Shared by the tests that leave the server running.
  const shared = await face({ after }, way, 'plain', { good });

  describe(`a server over ${way}`, () => {
    test('fault 31: a crash ends the call, which is not repeated; the delay before the next start grows', async (t) => {
      const hostility = await face(t, way, 'plain', { good });
      const { callInChat, record, text, client, clock } = hostility;
      const crash = () =>
        assert.rejects(callInChat('bad.crash'), /^Error: Tool crash of server bad failed: /);
      const waits: number[] = [];
      const expected = way === 'stdio' ? [0, 1, 2, 4, 8, 16, 32, 60, 60] : [0, 1];
      for (let crashes = 1; crashes <= expected.length; crashes += 1) {
        await crash();
        assert.equal(count(record(), 'crash'), crashes, 'each call reaches the server once');
        const state = (await client.states()).get('bad');
        assert.equal(state?.kind, 'failed');
        const waitMs = (state.retryAtMs ?? 0) - clock.nowMs;
        waits.push(waitMs / 1000);
        clock.nowMs += waitMs - 1;
        if (waitMs > 0) await assert.rejects(callInChat('bad.crash'), /Server bad failed \d times in a row/);
        assert.equal(count(record(), 'crash'), crashes, 'nothing was started too early');
        clock.nowMs += 1;
        await goodWorks(hostility);
      }
      assert.deepEqual(waits, expected);
      assert.equal(await text('bad.fine'), 'fine');
      assert.equal((await client.states()).get('bad')?.kind, 'ready');
    });

    test('fault 31: the user can restart the server at once', async (t) => {
      const { call, text, client } = await face(t, way, 'plain', { good });
      for (const _ of [1, 2]) await assert.rejects(call('bad.crash'));
      await assert.rejects(call('bad.fine'), /Try again in 1 s, or run “Filechat: Restart/);
      await client.restart('bad');
      assert.equal(await text('bad.fine'), 'fine');
    });

    test('fault 32: a call that hangs is cancelled, and its late answer is ignored', async () => {
      const { call, text, record, logged } = shared;
      shared.become('plain');
      await text('bad.fine');
      shared.timeoutMs = 2000;
      const hung = assert.rejects(
        call('bad.hang'),
        /there was no response for 2 s\. Raise filechat\.timeoutSeconds/,
      );
      await until(() => count(record(), 'hang') > 0);
      // The short timeout applies only to the call that hangs.
      shared.timeoutMs = TIMEOUT_MS;
      assert.equal(await text('bad.held'), 'held');
      await hung;
      assert.equal((JSON.parse(await text('bad.cancelled')) as unknown[]).length, 1);
      assert.equal(await text('bad.release'), 'released');
      assert.equal(await text('bad.fine'), 'fine');
      assert.equal(count(record(), 'hang'), 1);
      assert.equal(
        record().filter(({ method }) => method === 'initialize').length,
        1,
        'it was not restarted',
      );
      assert.doesNotMatch(logged.join('\n'), /closed/);
      await goodWorks(shared);
    });

    test('fault 33: garbage is logged, and the call succeeds', async () => {
      const { text, logged } = shared;
      shared.become('plain');
      assert.equal(await text('bad.garbage'), 'fine');
      assert.match(logged.join('\n'), /\[bad\] .*Listening/);
      assert.equal(await text('bad.fine'), 'fine');
      await goodWorks(shared);
    });

    test('fault 34: a message without an end closes this server alone, in bounded memory', async (t) => {
      const hostility = await face(t, way, 'plain', { good, maxDroppedBytes: DROPPED_BYTES[way] });
      const { callInChat, text } = hostility;
      await goodWorks(hostility);
      const grown = await growth(() =>
        assert.rejects(callInChat('bad.endless'), /it sent a (line|message) that exceeds the size limit/),
      );
      assert.ok(grown < MAX_GROWTH_BYTES, `${grown} bytes`);
      await goodWorks(hostility);
      assert.equal(await text('bad.fine'), 'fine', 'the next call starts it again');
    });

    test('fault 36: after a start that times out, a process waits for the user, and an address for a while', async (t) => {
      const hostility = await face(t, way, 'silent', { good });
      const { clock, call } = hostility;
      hostility.timeoutMs = 300;
      for (const _ of way === 'stdio' ? [1] : [1, 2]) {
        // Called when the start has begun.
        const listening = hostility.client.onDidChange(() => {
          listening.dispose();
          clock.nowMs += 120_000;
        });
        await assert.rejects(call('bad.fine'), /there was no response for 0\.3 s/);
      }
      await assert.rejects(
        call('bad.fine'),
        way === 'stdio'
          ? /there was no response for 0\.3 s.* Fix the cause, then run “Filechat: Restart Server”\.$/
          : /Server bad failed 2 times in a row/,
      );
      hostility.timeoutMs = TIMEOUT_MS;
      await goodWorks(hostility);
    });

    test('fault 36: a start that never ends delays neither calls nor requests', async (t) => {
      const hostility = await face(t, way, 'silent', { good });
      const { client, text } = hostility;
      const abort = new AbortController();
      const stuck = assert.rejects(
        hostility.call('bad.fine', {}, { signal: abort.signal }),
        /^Error: enough$/,
      );
      await goodWorks(hostility);
      const { promise: patienceEnds, resolve: endPatience } = Promise.withResolvers<void>();
      const { promise: asked, resolve: isAsking } = Promise.withResolvers<void>();
      const conversation = new ChatConversation({
        findModel: async () => MODEL,
        tools: client,
        attachments: { find: () => Promise.reject(new Error('there are no files')) },
        readAgent: async () => undefined,
        servers: async () => ['bad', 'good'],
        wait: () => {
          isAsking();
          return patienceEnds;
        },
      });
      const prepared = conversation.prepare(
        '# %% user\n\nHi\n\n# %% assistant\n',
        new AbortController().signal,
      );
      await asked;
      // The response to the earlier request has arrived when this one has.
      await client.listTools('good');
      endPatience();
      const { request, notes } = await prepared;
      assert.deepEqual([...new Set(request.tools.map(({ tool }) => tool.server))], ['good']);
      assert.deepEqual(notes, [
        'Server bad did not respond within 10 s, so this request is sent without its tools.',
      ]);
      assert.equal((await client.states()).get('bad')?.kind, 'starting');
      assert.equal(await text('good.fine'), 'fine');
      abort.abort(new Error('enough'));
      await stuck;
    });
  });
}

/** For the lists and definitions, whose rules know no transport. */
const listing = await face({ after }, 'stdio', 'plain', { good, env: { CANARY } });

describe('the lists of a server', () => {
  const shared = listing;
  const bothWork = async () => {
    shared.become('plain');
    assert.equal(await shared.text('bad.fine'), 'fine');
    await goodWorks(shared);
  };

  test('fault 37: a hundred thousand tools are cut to a thousand, with a notice', async () => {
    shared.become('many');
    const { tools, failures } = await shared.client.listTools('bad');
    assert.deepEqual(failures, []);
    assert.equal(tools.length, 1000);
    assert.match(shared.logged.join('\n'), /The list of tools was cut after 1000\./);
    await bothWork();
  });

  test('fault 37: 70 MB of definitions are a failure of this server alone', async () => {
    shared.become('heavy');
    const { tools, failures } = await shared.client.listTools();
    assert.deepEqual([...new Set(tools.map(({ server }) => server))], ['good']);
    assert.equal(failures.length, 1);
    assert.match(
      failures[0]?.reason ?? '',
      /tools of server bad could not be listed: its response contains more than 67\.1 MB/,
    );
    await bothWork();
  });

  test('fault 37: a description of 5 MB is cut, and its length is shown', async () => {
    shared.become('long');
    const [tool] = (await shared.client.listTools('bad')).tools;
    assert.equal(tool?.description, `${'x'.repeat(16_000)}… (5000000 characters)`);
    await bothWork();
  });

  const pages: readonly (readonly [mode: string, size: number, notice: RegExp])[] = [
    ['circle', 3, /^\[bad\] The list of (\w+) repeats itself; it was read once\.$/],
    ['endless', 101, /^\[bad\] The list of (\w+) was cut after 101\.$/],
  ];
  for (const [mode, size, notice] of pages) {
    test(`fault 38: lists with ${mode} cursors end, without duplicates`, async () => {
      const { client, logged } = shared;
      shared.become(mode);
      const { tools } = await client.listTools('bad');
      const { resources, templates, failure } = await client.listResources('bad');
      const { prompts } = await client.listPrompts('bad');
      assert.equal(failure, undefined);
      const lists = [
        tools.map(({ tool }) => tool),
        resources.map(({ uri }) => uri),
        templates.map(({ uriTemplate }) => uriTemplate),
        prompts.map(({ prompt }) => prompt),
      ];
      for (const list of lists) assert.equal(new Set(list).size, list.length);
      assert.deepEqual(
        lists.map((list) => list.length),
        [size, size, size, size],
      );
      const told = logged.flatMap((line) => notice.exec(line)?.[1] ?? []);
      assert.deepEqual(told, ['tools', 'resources', 'templates', 'prompts']);
      await bothWork();
    });
  }

  test('fault 39: a deep, a remote and a slow schema disable only their tools', async () => {
    shared.become('schemas');
    const { tools, failures } = await shared.client.listTools('bad');
    assert.deepEqual(failures, []);
    assert.deepEqual(
      tools.map(({ tool }) => tool),
      ['slowInput', 'slowOutput', 'fine'],
    );
    const why = shared.logged.flatMap(
      (line) => /"(\w+)" cannot be used, because (.*)/.exec(line)?.slice(1) ?? [],
    );
    assert.match(
      why.join(' '),
      /deepInput its input schema is nested .* deepOutput its output schema is nested .* remoteInput its input .* is not fetched\. remoteOutput its output .* is not fetched\.$/,
    );
    await bothWork();
    assert.equal(canaryHits, 0);
  });

  test('fault 40: a changed tool has another fingerprint, and the change is described', async () => {
    const { client, text } = shared;
    shared.become('plain');
    const find = async () => {
      const { tools } = await client.listTools('bad');
      return tools.find(({ tool }) => tool === 'change') as ToolInfo;
    };
    const [before, same] = [await find(), await find()];
    assert.equal(
      fingerprintTool(before, 'p'),
      fingerprintTool(same, 'p'),
      'an unchanged tool needs no new permission',
    );
    assert.equal(await text('bad.change'), 'changed');
    const now = await find();
    assert.notEqual(fingerprintTool(now, 'p'), fingerprintTool(before, 'p'));
    assert.notEqual(renderDefinition(now), renderDefinition(before));
    assert.match(renderDefinition(now), /"key"/);
    await goodWorks(shared);
  });

  test('fault 40: tools of the same name on two servers are two, for the model and in a call', async () => {
    shared.become('plain');
    const offered = modelTools((await shared.client.listTools()).tools);
    assert.deepEqual(toolOfName(offered, 'bad__pid'), { server: 'bad', tool: 'pid' });
    assert.deepEqual(toolOfName(offered, 'good__pid'), { server: 'good', tool: 'pid' });
    assert.equal(new Set(offered.map(({ name }) => name)).size, offered.length);
    assert.notEqual(await shared.text('bad.pid'), await shared.text('good.pid'));
  });
});

test('fault 33: garbage without an end does not fill the log', async (t) => {
  const record = join(temporaryFolder(t), 'record.jsonl');
  const { call, logged } = serve(t, { flood: hostileProcess('flood', { record }) });
  const abort = new AbortController();
  const ended = assert.rejects(call('flood.fine', {}, { signal: abort.signal }), /^Error: enough$/);
  await until(() => logged.some((line) => line.includes('the rest is dropped')));
  const flooded = () => readRecord(record).at(-1)?.flooded ?? 0;
  const before = flooded();
  await until(() => flooded() > before + 20 * MIB);
  abort.abort(new Error('enough'));
  await ended;
  const loggedChars = logged.reduce((sum, line) => sum + line.length, 0);
  assert.ok(loggedChars < 3 * 1024 * 1024, `${loggedChars} characters`);
});

test('fault 35: 100 MB of stderr delay nothing and are not kept', async (t) => {
  const hostility = await face(t, 'stdio', 'plain', { good });
  const { text, callInChat, logged } = hostility;
  await goodWorks(hostility);
  const grown = await growth(async () => assert.equal(await text('bad.stderr'), 'fine'));
  assert.ok(grown < MAX_GROWTH_BYTES, `${grown} bytes`);
  const loggedChars = logged.reduce((sum, line) => sum + line.length, 0);
  assert.ok(loggedChars < 2 * 1024 * 1024, `${loggedChars} characters`);
  assert.match(logged.join('\n'), /too much to log; the rest is dropped/);
  await goodWorks(hostility);
  await assert.rejects(
    callInChat('bad.crash'),
    /Last lines of stderr: (e{99} \| )+the last line \| Segmentation fault\.$/,
    'the last lines are kept, however many precede them',
  );
});

const MODEL: ChatModel = {
  name: 'm',
  provider: 'test',
  accepts: () => false,
  stream: () => assert.fail('nothing is sent'),
  preview: async () => '',
};

/** The largest growth of this process while work is done. */
async function growth(work: () => Promise<void>): Promise<number> {
  const before = process.memoryUsage.rss();
  let most = before;
  const look = setInterval(() => {
    most = Math.max(most, process.memoryUsage.rss());
  }, 20);
  try {
    await work();
  } finally {
    clearInterval(look);
  }
  return most - before;
}
