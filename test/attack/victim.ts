/** The driven process: does what each case says with the real client, the command line and the parser. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import {
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { showInvisible } from '../../src/chat/format/escapeMarkers.ts';
import { main } from '../../src/cli/main.ts';
import { readServersFile } from '../../src/mcp/config/readServers.ts';
import { McpClient } from '../../src/mcpClient.ts';
import { root as repository } from '../runner/layers.ts';
import {
  checkChat,
  checkFiles,
  checkMeasured,
  checkOutput,
  checkReport,
  isAlive,
  listFiles,
} from './checks.ts';
import type { EnemyReport, ServedCase } from './enemy.ts';
import { Gauge, type Measured } from './measure.ts';
import { probeChat, probeTools } from './probes.ts';
import { type Case, CHAT, type Places, SECRET, type Spec, toText, USER_TEXT } from './spec.ts';

export interface Shot {
  readonly failures: readonly string[];
  readonly stallMs: number;
  readonly grownBytes: number;
}

const ENEMY = process.env['ATTACK_ENEMY'] ?? '';
const CANARY = process.env['ATTACK_CANARY'] ?? '';
const BASE = tmpdir();
const MAX_CASE_MS = 30_000;
const FULL_BYTES = 400 * 1024 * 1024;

process.on('message', async (attack: Case) => {
  // A mistake of the attack itself, which must be seen.
  const broken = (error: Error): Shot => ({
    failures: [`attack: ${error.stack}`],
    stallMs: 0,
    grownBytes: 0,
  });
  process.send?.(await shoot(attack).catch(broken));
});
process.once('disconnect', () => process.exit());

let number = 0;

async function shoot(attack: Case): Promise<Shot> {
  const root = mkdtempSync(join(BASE, 'attack-'));
  try {
    return await shootIn(root, attack);
  } finally {
    process.chdir(repository);
    rmSync(root, { recursive: true, force: true, maxRetries: 3 });
  }
}

async function shootIn(root: string, attack: Case): Promise<Shot> {
  number += 1;
  const id = `${process.pid}-${number}`;
  const places = {
    ID: id,
    ROOT: root,
    ENEMY: `${ENEMY}/${id}`,
    CANARY: `${CANARY}/${id}`,
    NODE: process.execPath,
    SERVER: join(import.meta.dirname, 'enemy.ts'),
  };
  const served: ServedCase = { attack, places };
  writeFileSync(join(root, 'case'), JSON.stringify(served));
  await fetch(`${places.ENEMY}/case`, { method: 'POST', body: JSON.stringify(served) });
  Object.assign(process.env, setUp(root, attack, places));
  const work = join(root, 'work');
  const before = listFiles(root);
  const chatBefore = readChat(work);
  if (process.memoryUsage.rss() > FULL_BYTES) globalThis.gc?.();
  process.chdir(work);
  const done = attack.built ? await runBuilt(root, attack) : await runHere(attack, work);
  const report = (await (await fetch(`${places.ENEMY}/report`)).json()) as EnemyReport;
  const all = [report, ...readRecord(join(root, 'record'))];
  const joined = {
    canary: report.canary,
    leaks: all.flatMap(({ leaks = [] }) => leaks),
    calls: all.flatMap(({ calls = [] }) => calls),
    pids: all.flatMap(({ pids = [] }) => pids),
  };
  await ended(joined.pids);
  const { stallMs, grownBytes } = done.measured;
  const failures = [
    ...done.failures,
    ...checkReport(joined, attack),
    ...checkFiles(before, listFiles(root)),
    ...checkChat(chatBefore, readChat(work), attack),
    // Last, because the first failure names the case: a defect may also take long.
    ...checkMeasured(done.measured, attack.built),
  ];
  return { failures, stallMs, grownBytes };
}

interface Done {
  readonly measured: Measured;
  readonly failures: readonly string[];
}

async function runHere(attack: Case, work: string): Promise<Done> {
  const gauge = new Gauge();
  const failures: string[] = [];
  let output = '';
  const write = (text: string) => {
    output += `${showInvisible(text.trimEnd())}\n`;
  };
  const stop = new AbortController();
  const isLate = Promise.withResolvers<void>();
  const timer = setInterval(() => isLate.resolve(), MAX_CASE_MS);
  const run = async () => {
    if (attack.command === 'probe') failures.push(...(await probe(attack, work)));
    else
      await main(attack.command, {
        out: write,
        err: write,
        ask: undefined,
        version: '1',
        signal: stop.signal,
      });
  };
  const isDone = await Promise.race([run().then(() => true), isLate.promise.then(() => false)]).catch(
    (error: Error) => {
      failures.push(`crash: ${error.stack}`);
      return true;
    },
  );
  clearInterval(timer);
  if (!isDone) {
    failures.push('hang: it did not end');
    stop.abort();
  }
  return { measured: gauge.stop(), failures: [...failures, ...checkOutput(output)] };
}

async function runBuilt(root: string, { command }: Case): Promise<Done> {
  const report = join(root, 'report');
  const argv = [
    '--import',
    join(import.meta.dirname, 'measure.ts'),
    join(repository, 'dist/cli.js'),
    ...command,
  ];
  const child = spawn(process.execPath, argv, {
    env: { ...process.env, ATTACK_REPORT: report },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let output = '';
  for (const stream of [child.stdout, child.stderr])
    stream.setEncoding('utf8').on('data', (text: string) => {
      output += text;
    });
  const timer = setInterval(() => child.kill('SIGKILL'), MAX_CASE_MS);
  const [code] = (await once(child, 'close')) as [number | null];
  clearInterval(timer);
  const failures = code === 0 || code === 1 || code === 2 ? [] : [`hang: it ended with ${code}`];
  const measured = existsSync(report) ? (JSON.parse(readFileSync(report, 'utf8')) as Measured) : NOTHING;
  return { measured, failures: [...failures, ...checkOutput(output)] };
}

const NOTHING: Measured = { stallMs: 0, grownBytes: 0, hosts: [], crashes: [], shared: [] };

async function probe(attack: Case, work: string): Promise<string[]> {
  if (attack.kind === 'chat')
    return (await probeChat(readChat(work))).match(ACTIVE)?.map((tag) => `active: ${tag}`) ?? [];
  const { servers } = readServersFile(readFileSync(join(work, 'mcp.json'), 'utf8'), {
    workspaceFolder: work,
    env: process.env,
  });
  const quiet = () => undefined;
  const client = new McpClient({
    servers: async () => servers,
    log: { info: quiet, warn: quiet, error: quiet },
    timeoutMs: () => 5000,
    clientInfo: { name: 'attack', version: '1' },
  });
  try {
    await probeTools((await client.listTools()).tools);
    await client.listResources('bad');
    await client.listPrompts('bad');
  } finally {
    await client.dispose();
  }
  return [];
}

/** Elements that load or run something; images and links of the chat's own folder are not among them. */
const ACTIVE =
  /<(?:script|style|base|iframe|svg|object|embed|link|meta|form)\b|<(?:img|audio|video|source)[^>]+src="(?:https?:|\/\/|data:|file:)[^>]*>/gi;

/** Makes the folders; returns the environment. */
function setUp(root: string, attack: Case, places: Places): Record<string, string> {
  for (const folder of ['work', 'home/.ssh', 'home/state', 'tmp'])
    mkdirSync(join(root, folder), { recursive: true });
  for (const file of ['secret.txt', 'home/.ssh/id_rsa', 'home/secret.txt'])
    writeFileSync(join(root, file), SECRET);
  const files = { [CHAT]: `# %% user\n${USER_TEXT}\n`, ...attack.files };
  for (const [name, content] of Object.entries(files)) place(join(root, 'work', name), content, places);
  const keys = ['ANTHROPIC_API_KEY', 'OPENAI_API_KEY', 'GOOGLE_GENERATIVE_AI_API_KEY'].map((name) => [
    name,
    SECRET,
  ]);
  const folders = {
    HOME: join(root, 'home'),
    XDG_STATE_HOME: join(root, 'home/state'),
    TMPDIR: join(root, 'tmp'),
  };
  return { ...folders, ...Object.fromEntries(keys) };
}

function place(path: string, content: Spec, places: Places): void {
  mkdirSync(dirname(path), { recursive: true });
  if (typeof content === 'object' && content !== null && '$folder' in content) mkdirSync(path);
  else if (typeof content === 'object' && content !== null && '$link' in content)
    symlinkSync(toText(content['$link'], places), path);
  else writeFileSync(path, toText(content, places));
}

function readChat(work: string): string {
  const path = join(work, CHAT);
  return existsSync(path) ? readFileSync(path, 'utf8') : '';
}

function readRecord(file: string): Partial<EnemyReport>[] {
  if (!existsSync(file)) return [];
  return readFileSync(file, 'utf8')
    .trimEnd()
    .split('\n')
    .map((line) => JSON.parse(line) as Partial<EnemyReport>);
}

/** Waits a moment for processes that have been told to end. */
async function ended(pids: readonly number[]): Promise<void> {
  for (let looks = 0; looks < 200 && pids.some(isAlive); looks += 1) {
    await new Promise((resolve) => setTimeout(resolve, 10));
  }
}
