/** Servers start and end in every way, and leave nothing behind. */

import assert from 'node:assert/strict';
import { execFileSync, spawn } from 'node:child_process';
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { mkdtempSync, readdirSync } from 'node:fs';
import { join } from 'node:path';
import { createInterface } from 'node:readline';
import { describe, type TestContext, test } from 'node:test';
import { fileURLToPath } from 'node:url';
import { FolderAssets } from '../../../src/assets/store.ts';
import type { StdioServer } from '../../../src/mcp/config/types.ts';
import { McpClient } from '../../../src/mcpClient.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { until } from '../../kit/until.ts';
import { hostileProcess } from '../helpers/hostile.ts';
import { isAlive } from '../helpers/serving.ts';

/** Two rounds show a leak as well as ten. */
const ROUNDS = 2;
const HOST = fileURLToPath(new URL('../fixtures/killed-host.ts', import.meta.url));
/** Windows lists processes differently and has no groups. */
const skip = process.platform === 'win32';

/** One life of a server, from before its start to after its end. */
type Life = (host: Host) => Promise<void>;

interface Host {
  readonly client: McpClient;
  readonly marker: string;
  call(tool: string): Promise<string>;
}

/** All of them run concurrently, in every round. */
const LIVES: Readonly<Record<string, { readonly mode?: string; readonly live: Life }>> = {
  stopped: {
    live: async ({ client, call }) => {
      assert.equal(await call('fine'), 'fine');
      await client.stop('s');
      assert.equal((await client.states()).get('s')?.kind, 'idle');
    },
  },
  killed: {
    live: async ({ call }) => {
      const pid = Number(await call('pid'));
      const held = assert.rejects(call('hang'), /its process was ended by SIGKILL/);
      await call('held');
      process.kill(pid, 'SIGKILL');
      await held;
      assert.notEqual(Number(await call('pid')), pid);
    },
  },
  crashed: {
    live: async ({ call }) => {
      await assert.rejects(call('crash'), /Segmentation fault/);
      assert.equal(await call('fine'), 'fine');
      await assert.rejects(call('crashInImage'), /its process ended/);
    },
  },
  unborn: {
    mode: 'silent',
    live: async ({ client, call }) => {
      const starting = assert.rejects(call('fine'), /Filechat is closing/);
      await new Promise(setImmediate);
      await client.dispose();
      await starting;
    },
  },
  parent: {
    live: async ({ client, call, marker }) => {
      const grandchild = Number(await call('grandchild'));
      assert.ok(processesOf(marker).includes(grandchild), 'it is running');
      await client.stop('s');
    },
  },
  'crashed parent': {
    live: async ({ call }) => {
      assert.ok(isAlive(Number(await call('grandchild'))));
      await assert.rejects(call('crash'), /Tool crash of server s failed/);
    },
  },
};

test('servers that live in every way leave no process, no handle and no file', { skip }, async (t) => {
  const marker = randomUUID();
  const folder = temporaryFolder(t);
  t.after(() => endAll(marker));
  await liveAll(folder, marker);
  const before = resources();
  for (let round = 0; round < ROUNDS; round += 1) await liveAll(folder, marker);
  // A grandchild is not ours to wait for: it is killed, and gone a moment later.
  await until(
    () => processesOf(marker).length === 0,
    () => `There is still\n${linesOf(marker).join('\n')}`,
  );
  // Closed handles are gone a few turns of the event loop later.
  await until(
    () => isSame(resources(), before),
    () => `There is ${JSON.stringify(resources())}, and there was ${JSON.stringify(before)}.`,
  );
  assert.deepEqual(filesIn(folder), []);
});

describe('a host that is killed', { skip }, () => {
  test('ends a server that exits with its stdin', async (t) => {
    const { polite } = await killHost(t);
    await gone(polite);
  });

  test('ends a server that ignores its stdin and SIGTERM', async (t) => {
    const { stubborn } = await killHost(t);
    await gone(stubborn);
  });
});

async function liveAll(folder: string, marker: string): Promise<void> {
  await Promise.all(
    Object.values(LIVES).map(async ({ mode = 'plain', live }) => {
      const { args, ...server } = hostileProcess(mode, { env: { MARKER: marker } });
      const client = createClient({ ...server, args: [...args, marker] });
      const call = async (tool: string) => {
        const assets = new FolderAssets({ folder: mkdtempSync(join(folder, 'chat-')) }).beginResult();
        const { parts } = await client.callTool({ id: 'c1', server: 's', tool, arguments: {} }, { assets });
        return parts.map((part) => (part.kind === 'text' ? part.text : `<${part.kind}>`)).join('\n');
      };
      await live({ client, call, marker });
      await client.dispose();
    }),
  );
}

function createClient(server: StdioServer): McpClient {
  const ignore = () => {};
  return new McpClient({
    servers: async () => new Map([['s', server]]),
    log: { info: ignore, warn: ignore, error: ignore },
    timeoutMs: () => 60_000,
    clientInfo: { name: 'test', version: '1' },
  });
}

/** The handles that keep this process alive, by kind. */
function resources(): Readonly<Record<string, number>> {
  const counts: Record<string, number> = {};
  for (const kind of process.getActiveResourcesInfo().sort()) counts[kind] = (counts[kind] ?? 0) + 1;
  return counts;
}

function isSame(a: unknown, b: unknown): boolean {
  return JSON.stringify(a) === JSON.stringify(b);
}

/** Those that have the marker among their arguments. */
function processesOf(marker: string): readonly number[] {
  return linesOf(marker).map((line) => Number.parseInt(line, 10));
}

function linesOf(marker: string): readonly string[] {
  const lines = execFileSync('ps', ['-A', '-ww', '-o', 'pid=,args='], { encoding: 'utf8' }).split('\n');
  return lines.filter((line) => line.includes(marker));
}

function endAll(marker: string): void {
  for (const pid of processesOf(marker)) process.kill(pid, 'SIGKILL');
}

function filesIn(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name));
}

interface Orphans {
  readonly polite: number;
  readonly stubborn: number;
}

/** Kills a host with SIGKILL, and returns its servers. They are ended after the test in any case. */
async function killHost(t: TestContext): Promise<Orphans> {
  const marker = randomUUID();
  t.after(() => endAll(marker));
  const host = spawn(process.execPath, [HOST, marker], { stdio: ['ignore', 'pipe', 'inherit'] });
  const [line] = (await once(createInterface({ input: host.stdout }), 'line')) as [string];
  const orphans = JSON.parse(line) as Orphans;
  assert.ok(isAlive(orphans.polite) && isAlive(orphans.stubborn));
  host.kill('SIGKILL');
  await once(host, 'exit');
  return orphans;
}

/** The exit of a process that is not a child raises no event. */
async function gone(pid: number): Promise<void> {
  await until(
    () => !isAlive(pid),
    () => `Process ${pid} is still alive.`,
  );
}
