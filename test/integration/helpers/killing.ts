/** The parts of a run that is killed, and the invariants after it was run again to its end. */
import assert from 'node:assert/strict';
import { existsSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { answeredCall, answersTo, isSameCall, nextAction } from '../../../src/chat/format/nextAction.ts';
import { parseChat, turnBody } from '../../../src/chat/format/parse.ts';
import type { Cleanup } from '../../kit/folder.ts';
import { beginStream, startRawServer, toEvent } from './modelServer.ts';

export const QUESTION = '---\nservers: [noting, other]\n---\n# %% user\nNote some numbers.\n';
export const SIGNALS = ['SIGTERM', 'SIGHUP', 'SIGINT', 'SIGKILL'] as const;

/** From `FILECHAT_SEED`, or random; it is printed, so that a failure can be repeated. */
export function seededRandom(tell: (seed: string) => void): (below: number) => number {
  const seed = Number(process.env['FILECHAT_SEED'] || Math.floor(Math.random() * 2 ** 32));
  tell(`FILECHAT_SEED=${seed}`);
  let state = seed >>> 0;
  return (below) => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) % below;
  };
}

/** Two servers that write each call to the file before they answer it, with two images and a long text. */
export function notingServers(notes: string) {
  const program = fileURLToPath(new URL('../fixtures/noting-server.mjs', import.meta.url));
  const server = { command: process.execPath, args: [program, notes] };
  return { noting: server, other: server };
}

/** The numbers of the calls that the server has got. */
export function readNotes(notes: string): readonly string[] {
  return existsSync(notes) ? readFileSync(notes, 'utf8').split('\n').filter(Boolean) : [];
}

/** A model that calls both servers twice in a row, never with the same number, and is done. */
export async function startNotingModel(t: Cleanup): Promise<string> {
  let last = 0;
  const chunk = (delta: object, finish_reason: string | null = null) =>
    toEvent({ id: 'c', created: 1, model: 'm', choices: [{ index: 0, delta, finish_reason }] });
  const call = (index: number) => {
    last += 1;
    const fn = { name: `${index === 0 ? 'noting' : 'other'}__note`, arguments: JSON.stringify({ n: last }) };
    return chunk({ tool_calls: [{ index, id: `k${last}`, type: 'function', function: fn }] });
  };
  return startRawServer(t, (connection) => {
    const { messages } = JSON.parse(connection.body) as { messages: { role: string }[] };
    const results = messages.filter(({ role }) => role === 'tool').length;
    beginStream(connection);
    const events =
      results < 4
        ? [
            chunk({ content: 'I note ' }),
            chunk({ content: 'two.' }),
            call(0),
            call(1),
            chunk({}, 'tool_calls'),
          ]
        : [chunk({ content: 'Done.' }), chunk({}, 'stop')];
    connection.response.end(`${events.join('')}data: [DONE]\n\n`);
  });
}

export function isDone(chat: string): boolean {
  const { turns } = parseChat(chat);
  const last = turns.findLast((turn) => turn.role !== 'user' || turnBody(chat, turn).trim() !== '');
  return nextAction(chat).kind === 'wait' && last !== undefined && turnBody(chat, last).includes('Done.');
}

/** Nothing was sent twice, every call has its outcome, and the chat has no mark of a running reply. */
export function checkCalls(chat: string, noted: readonly string[]): void {
  assert.deepEqual(noted, [...new Set(noted)], `sent twice\n${chat}`);
  const { turns, problems } = parseChat(chat);
  assert.deepEqual(problems, [], chat);
  assert.doesNotMatch(chat, /<!-- filechat:(sent|writing|interrupted)/);
  const outcomes = turns.flatMap((turn, at) =>
    turn.calls.map((call) => {
      const { n } = JSON.parse(call.argumentsText);
      const answers = answersTo(turns, at).filter((answer) => isSameCall(answeredCall(answer), call));
      assert.equal(answers.length, 1, `the call ${n} has ${answers.length} answers\n${chat}`);
      const answer = answers[0] ? turnBody(chat, answers[0]) : '';
      return { n: String(n), isNoted: answer.includes(`noted ${n}`), isTold: answer.startsWith('> ⚠') };
    }),
  );
  for (const { n, isNoted, isTold } of outcomes) {
    assert.ok(isNoted || isTold, `the call ${n} has no outcome\n${chat}`);
    if (isNoted) assert.ok(noted.includes(n), `the call ${n} was never made\n${chat}`);
  }
  for (const n of noted) {
    assert.ok(
      outcomes.some((outcome) => outcome.n === n),
      `the call ${n} is lost\n${chat}`,
    );
  }
}

/** Of the files of a result. */
const SIZES: ReadonlySet<number> = new Set([70, 1_000_070, 68_000]);

/** What the chat links to is there, and whole, and nothing else is in its folder. */
export function checkFolder(folder: string, others: readonly string[] = []): void {
  const chat = readFileSync(join(folder, 'a.chat.md'), 'utf8');
  const links = [...chat.matchAll(/\]\((cmdassets\/[^)]+)\)/g)].map(([, path = '']) => path);
  assert.deepEqual(
    links.filter((path) => !SIZES.has(statSync(join(folder, path)).size)),
    [],
    chat,
  );
  const left = filesBelow(folder)
    .map((file) => file.replaceAll('\\', '/'))
    .filter((file) => !/^(a\.chat\.md|cmdassets\/tool-(image|file)-[\w-]+\.(png|txt))$/.test(file));
  assert.deepEqual(
    left.filter((file) => !others.includes(file)),
    [],
  );
}

/** Every file below a folder. */
export function filesBelow(folder: string): readonly string[] {
  return readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => !entry.isDirectory())
    .map(({ parentPath, name }) => join(parentPath, name).slice(folder.length + 1));
}
