/** The protocol over both transports and revisions. The answers themselves are tested in test/unit. */
import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { before, describe, it } from 'node:test';
import type { Client } from '@modelcontextprotocol/client';
import {
  assetsServerFile,
  CHAT,
  CHAT_TEXT,
  CHAT_URI,
  callTool,
  cleanUpLast,
  connectOverHttp,
  connectOverStdio,
  createNotes,
  ERAS,
  type Era,
  IMAGE,
  IMAGE_URI,
  PNG_BYTES,
  startOverHttp,
} from '../helpers/assetsServer.ts';
import { isAlive } from '../helpers/serving.ts';

const cleanup = cleanUpLast();
const notes = createNotes(cleanup);
const http = await startOverHttp(cleanup, [notes.path]);
const WAYS: Readonly<Record<string, (era: Era) => Promise<Client>>> = {
  stdio: async (era) => (await connectOverStdio(cleanup, era, [notes.path])).client,
  HTTP: (era) => connectOverHttp(cleanup, era, http),
};

for (const [way, connect] of Object.entries(WAYS)) {
  for (const era of ERAS) {
    describe(`the assets server over ${way} at ${era}`, () => {
      let client: Client;
      before(async () => {
        client = await connect(era);
      });

      it('describes itself and its capabilities', async () => {
        assert.equal(client.getServerVersion()?.name, 'filechat-assets');
        assert.match(client.getInstructions() ?? '', /list_assets.*read_asset.*save_asset/);
        const { resources, tools, completions } = client.getServerCapabilities() ?? {};
        assert.deepEqual(resources, { listChanged: true, subscribe: true });
        assert.ok(tools && completions);
        const { tools: listed } = await client.listTools();
        assert.deepEqual(
          listed.map(({ name, annotations }) => `${name} ${annotations?.readOnlyHint}`),
          ['list_assets true', 'read_asset true', 'search_chats true', 'save_asset false'],
        );
        for (const { inputSchema, outputSchema } of listed) {
          assert.equal(inputSchema['type'], 'object');
          assert.equal(outputSchema?.['type'], 'object');
        }
      });

      it('lists, reads and completes resources', async () => {
        const { resources } = await client.listResources();
        assert.ok(resources.some(({ uri }) => uri === IMAGE_URI));
        assert.equal((await client.listResourceTemplates()).resourceTemplates.length, 2);
        const [chat] = (await client.readResource({ uri: CHAT_URI })).contents;
        assert.ok(chat && 'text' in chat && chat.text.startsWith(CHAT_TEXT));
        const [image] = (await client.readResource({ uri: IMAGE_URI })).contents;
        assert.ok(image && 'blob' in image);
        assert.deepEqual(Buffer.from(image.blob, 'base64'), PNG_BYTES);
        const { completion } = await client.complete({
          ref: { type: 'ref/resource', uri: 'filechat://{chat}/{asset}' },
          argument: { name: 'asset', value: 'tool-image-20261116' },
          context: { arguments: { chat: CHAT } },
        });
        assert.deepEqual(completion.values, [IMAGE]);
      });

      it('calls tools, and reports a refusal as a tool result', async () => {
        const { structured } = await callTool(client, 'save_asset', {
          chat: CHAT,
          name: 'dot.txt',
          text: `${way} ${era}`,
        });
        const file = join(notes.path, 'notes/cmdassets', String(structured['asset']));
        assert.equal(readFileSync(file, 'utf8'), `${way} ${era}`);
        const refused = await client.callTool({ name: 'read_asset', arguments: {} });
        assert.equal(refused.isError, true);
        assert.match((refused.content[0] as { text: string }).text, /uri must be/);
      });

      it('answers with an error of the protocol for a missing resource and an unknown tool', async () => {
        for (const request of [
          () => client.readResource({ uri: 'filechat://nothing.chat.md' }),
          () => client.readResource({ uri: 'file:///etc/passwd' }),
          () => client.callTool({ name: 'no_tool', arguments: {} }),
        ])
          await assert.rejects(request, { code: -32602 });
      });

      it('answers concurrent calls, each with its own result', async () => {
        const starts = Array.from({ length: 40 }, (_, at) => at);
        const windows = await Promise.all(
          starts.map((start) => callTool(client, 'read_asset', { uri: IMAGE_URI, start, maxBytes: 3 })),
        );
        windows.forEach(({ resource }, start) => {
          assert.deepEqual(Buffer.from(resource?.blob ?? '', 'base64'), PNG_BYTES.subarray(start, start + 3));
        });
      });

      it('reports added, changed and removed files', { timeout: 60_000 }, async () => {
        const told = new Told(client);
        await follow(client, era, [CHAT_URI]);
        const count = async () => (await client.listResources()).resources.length;
        const before = await count();
        const listed = told.next('list');
        notes.write('new/fresh.chat.md', '# %% user\nNew.\n');
        await listed;
        assert.equal(await count(), before + 1);

        const updated = told.next(CHAT_URI);
        notes.write(CHAT, `${CHAT_TEXT}More over ${way} at ${era}.\n`);
        await updated;
        const [chat] = (await client.readResource({ uri: CHAT_URI })).contents;
        assert.ok(chat && 'text' in chat && chat.text.endsWith(`More over ${way} at ${era}.\n`));

        const gone = told.next('list');
        rmSync(join(notes.path, 'new'), { recursive: true });
        await gone;
        assert.equal(await count(), before);
        assert.ok(!told.all.includes('filechat://ideas.chat.md'));
      });
    });
  }
}

describe('the process', () => {
  for (const era of ERAS) {
    it(`exits with its client at ${era}, even while it watches files`, async (t) => {
      const { client, pid, stderr } = await connectOverStdio(t, era, [notes.path]);
      await follow(client, era, [CHAT_URI]);
      await client.listResources();
      await client.close();
      assert.equal(isAlive(pid), false);
      assert.equal(stderr(), '');
    });
  }

  it('does not answer or log a cancelled request', async (t) => {
    const child = spawn(process.execPath, [assetsServerFile(), notes.path]);
    t.after(() => child.kill());
    const send = (...messages: object[]) =>
      child.stdin.write(messages.map((each) => `${JSON.stringify({ jsonrpc: '2.0', ...each })}\n`).join(''));
    const lines = createInterface({ input: child.stdout });
    const clientInfo = { name: 'test', version: '1' };
    send({ id: 0, method: 'initialize', params: { protocolVersion: ERAS[0], capabilities: {}, clientInfo } });
    await once(lines, 'line');
    const answered: number[] = [];
    lines.on('line', (line) => answered.push(JSON.parse(line).id));
    const cancelled = [1, 2, 3].map((requestId) => ({
      method: 'notifications/cancelled',
      params: { requestId },
    }));
    send(
      { id: 1, method: 'tools/call', params: { name: 'search_chats', arguments: { query: 'harbour' } } },
      { id: 2, method: 'resources/list' },
      { id: 3, method: 'tools/call', params: { name: 'list_assets', arguments: {} } },
      ...cancelled,
      { id: 4, method: 'resources/list' },
    );
    await once(lines, 'line');
    child.stdin.end();
    const [[code]] = await Promise.all([
      once(child, 'exit'),
      text(child.stderr).then((said) => assert.equal(said, '')),
    ]);
    assert.equal(code, 0);
    assert.deepEqual(answered, [4]);
  });

  it('exits on SIGTERM, over stdio and HTTP', async (t) => {
    const { client, pid } = await connectOverStdio(t, '2025-11-25', [notes.path]);
    const closed = new Promise<void>((resolve) => {
      client.onclose = resolve;
    });
    process.kill(pid, 'SIGTERM');
    await closed;
    // The last test: the other tests share this server.
    const exited = once(http.process, 'exit');
    await (await connectOverHttp(t, '2025-11-25', http)).listResources();
    http.process.kill('SIGTERM');
    assert.equal((await exited)[0], 0);
  });
});

/** Subscribes as clients of each revision do. */
async function follow(client: Client, era: Era, uris: string[]): Promise<void> {
  if (era === '2025-11-25') {
    for (const uri of uris) await client.subscribeResource({ uri });
    return;
  }
  const filter = { resourcesListChanged: true, resourceSubscriptions: uris };
  assert.deepEqual((await client.listen(filter)).honoredFilter, filter);
}

/** The reported changes: `list`, or an address. */
class Told {
  readonly all: string[] = [];
  readonly #waiting = new Set<(said: string) => void>();

  constructor(client: Client) {
    client.setNotificationHandler('notifications/resources/list_changed', () => this.#say('list'));
    client.setNotificationHandler('notifications/resources/updated', ({ params }) => this.#say(params.uri));
  }

  next(wanted: string): Promise<void> {
    return new Promise((resolve) => {
      const waiter = (said: string) => {
        if (said !== wanted) return;
        this.#waiting.delete(waiter);
        resolve();
      };
      this.#waiting.add(waiter);
    });
  }

  #say(said: string): void {
    this.all.push(said);
    for (const waiter of [...this.#waiting]) waiter(said);
  }
}
