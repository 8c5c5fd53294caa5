/**
 * A run that is killed at any moment, and run again: `FILECHAT_KILLS=200 node --test test/integration/cli/kills.test.ts`,
 * with `FILECHAT_SEED` to repeat one.
 */
import assert from 'node:assert/strict';
import { once } from 'node:events';
import { watch } from 'node:fs';
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { it, type TestContext } from 'node:test';
import { parseChat } from '../../../src/chat/format/parse.ts';
import {
  checkCalls,
  checkFolder,
  filesBelow,
  isDone,
  notingServers,
  QUESTION,
  readNotes,
  SIGNALS,
  seededRandom,
  startNotingModel,
} from '../helpers/killing.ts';
import { type CliFolder, createCliFolder } from '../helpers/runCli.ts';

const KILLS = Number(process.env['FILECHAT_KILLS'] || 3);
const MAX_KILLED_RUNS = 3;
const MAX_RUNS = 10;

interface Scene extends CliFolder {
  readonly notes: string;
  readonly temporary: string;
}

async function createScene(t: TestContext, model: string): Promise<Scene> {
  const cli = await createCliFolder(t);
  const notes = join(cli.path, 'notes');
  const temporary = join(cli.path, '..', 'tmp');
  await mkdir(temporary);
  const models = { m: { provider: 'openai-compatible', model: 'm', baseUrl: model } };
  await cli.write('models.json', JSON.stringify({ models }));
  await cli.write('servers.json', JSON.stringify({ servers: notingServers(notes) }));
  await cli.write('a.chat.md', QUESTION);
  return { ...cli, notes, temporary };
}

const ARGS = ['run', 'a.chat.md', '--servers', 'servers.json', '--models', 'models.json'];

interface Kill {
  readonly signal: NodeJS.Signals;
  readonly at: number;
}

/** Runs it, and kills it after this many file events. Resolves to the number of events. */
async function run(
  scene: Scene,
  kill?: Kill,
): Promise<{ readonly seen: number; readonly isKilled: boolean; readonly said: string }> {
  let seen = 0;
  let isKilled = false;
  const watching = new AbortController();
  const running = scene.start([...ARGS, '--model', 'm', '--approve', 'auto'], {
    env: { TMPDIR: scene.temporary },
  });
  const look = () => {
    seen += 1;
    if (seen !== kill?.at) return;
    isKilled = running.process.kill(kill.signal);
  };
  // The chat and the assets, the notes of the server, and the locks.
  const watcher = watch(join(scene.path, '..'), { recursive: true, signal: watching.signal }, look);
  try {
    const { stderr } = await running.ended;
    return { seen, isKilled, said: stderr };
  } finally {
    const closed = once(watcher, 'close');
    watching.abort();
    await closed;
  }
}

/** Runs it until it is done, and kills the first few runs. Resolves to how many were killed. */
async function runToItsEnd(scene: Scene, nextKill: () => Kill): Promise<number> {
  let kills = 0;
  const said: string[] = [];
  for (let runs = 0; runs < MAX_RUNS; runs += 1) {
    const end = await run(scene, runs < MAX_KILLED_RUNS ? nextKill() : undefined);
    if (end.isKilled) kills += 1;
    said.push(end.said);
    const chat = await scene.read('a.chat.md');
    assert.deepEqual(parseChat(chat).problems, [], chat);
    if (!isDone(chat)) continue;
    // The next start removes leftovers of the last one.
    if (end.isKilled) await run(scene);
    await check(scene);
    return kills;
  }
  throw new Error(
    `It is not done after ${MAX_RUNS} runs:\n${said.join('\n')}\n${await scene.read('a.chat.md')}`,
  );
}

async function check(scene: Scene): Promise<void> {
  checkCalls(await scene.read('a.chat.md'), readNotes(scene.notes));
  checkFolder(scene.path, ['notes', 'mcp.json', 'models.json', 'servers.json']);
  assert.deepEqual(filesBelow(scene.temporary), []);
}

it(`a run that is killed ${KILLS} times sends no call twice and loses none`, async (t) => {
  const random = seededRandom((seed) => t.diagnostic(seed));
  const model = await startNotingModel(t);
  const whole = await createScene(t, model);
  const { seen } = await run(whole);
  await check(whole);
  const counts: Record<string, number> = {};
  let kills = 0;
  while (kills < KILLS) {
    kills += await runToItsEnd(await createScene(t, model), () => {
      const signal = SIGNALS[random(SIGNALS.length)] ?? 'SIGKILL';
      counts[signal] = (counts[signal] ?? 0) + 1;
      return { signal, at: 1 + random(seen) };
    });
  }
  t.diagnostic(`${kills} kills at ${seen} moments: ${JSON.stringify(counts)}`);
});
