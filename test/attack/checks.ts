/** What must hold after every case. Each check returns sentences about what does not. */
import { lstatSync, readdirSync, readFileSync, readlinkSync } from 'node:fs';
import { join } from 'node:path';
import MarkdownIt from 'markdown-it';
import { BUDGET } from '../../src/base/budget.ts';
import { parseChat, turnBody } from '../../src/chat/format/parse.ts';
import type { EnemyReport } from './enemy.ts';
import type { Measured } from './measure.ts';
import { type Case, CHAT, USER_TEXT } from './spec.ts';

/** ATTACK_STALL_MS is for tests that share the machine with others. */
const MAX_STALL_MS = Number(process.env['ATTACK_STALL_MS'] ?? 200);
const MAX_GROWN_BYTES = 150 * 1024 * 1024;
/** What the bundle takes by itself. */
const LOADING_BYTES = 100 * 1024 * 1024;
const LOADING_MS = 150;
/** Hosts that only hostile text names. */
const HOSTILE_HOST = /evil|e\.example|169\.254/;

export function checkMeasured(
  { stallMs, grownBytes, hosts, crashes, shared }: Measured,
  isBuilt = false,
): string[] {
  const grown = grownBytes - (isBuilt ? LOADING_BYTES : 0);
  return [
    ...(stallMs > MAX_STALL_MS + (isBuilt ? LOADING_MS : 0)
      ? [`stall: the event loop stood still for ${stallMs} ms`]
      : []),
    ...(grown > MAX_GROWN_BYTES ? [`memory: it grew by ${Math.round(grown / 1e6)} MB`] : []),
    ...hosts.filter((host) => HOSTILE_HOST.test(host)).map((host) => `request: a connection to ${host}`),
    ...shared.map((path) => `file: ${path} was opened without being new`),
    ...crashes.map((stack) => `crash: ${stack}`),
  ];
}

/** With `ask` and without a terminal, no tool is ever called by a run. */
export function checkReport({ canary, leaks, calls, pids }: EnemyReport, { command }: Case): string[] {
  const isAsked = command.includes('run') && !command.includes('auto');
  return [
    ...canary.map((request) => `request: the canary got ${request}`),
    ...leaks.map((where) => `leak: the secret was sent to ${where}`),
    ...(isAsked ? calls : calls.filter((name) => /forged/.test(name))).map(
      (name) => `call: ${name} was not allowed`,
    ),
    ...pids.filter(isAlive).map((pid) => `process: ${pid} is still running`),
  ];
}

export function isAlive(pid: number): boolean {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8').split(' ')[2] !== 'Z';
  } catch {
    return false;
  }
}

/** Every file and link below a folder, with what identifies its content. */
export function listFiles(folder: string): ReadonlyMap<string, string> {
  const found = new Map<string, string>();
  const walk = (at: string) => {
    for (const name of readdirSync(join(folder, at))) {
      const path = at === '' ? name : `${at}/${name}`;
      const stats = lstatSync(join(folder, path));
      if (stats.isDirectory()) walk(path);
      else
        found.set(
          path,
          stats.isSymbolicLink() ? readlinkSync(join(folder, path)) : `${stats.size} ${stats.mtimeMs}`,
        );
    }
  };
  walk('');
  return found;
}

/** The chat, its assets, and what Filechat keeps between runs. */
const MAY_CHANGE = new RegExp(
  `^(work/${CHAT.replaceAll('.', '\\.')}|work/cmdassets/(tool|model)-(image|audio|file)-\\d{8}-\\d{6}-[A-Za-z0-9]{8,}-\\d+\\.[a-z0-9]+|home/state/.*|tmp/filechat-locks-.*|report|record|case|tmp/node-compile-cache/.*)$`,
);

export function checkFiles(
  before: ReadonlyMap<string, string>,
  after: ReadonlyMap<string, string>,
): string[] {
  const written = [...after].filter(
    ([path, content]) => before.get(path) !== content && !MAY_CHANGE.test(path),
  );
  const removed = [...before.keys()].filter((path) => !after.has(path) && !/^(tmp|home\/state)\//.test(path));
  return [
    ...written.map(([path]) => `file: ${JSON.stringify(path)} was written`),
    ...removed.map((path) => `file: ${JSON.stringify(path)} was removed`),
  ];
}

/** Only hostile text names these; a call on the wire never does. */
const FORGED_SERVERS: ReadonlySet<string> = new Set(['a', 'forged']);

/** The user's text is there, and no turn or call has come from the text of others. */
export function checkChat(before: string, after: string, attack: Case): string[] {
  const count = (text: string) => text.split(USER_TEXT).length;
  if (count(after) < count(before)) return ['lost: the text of the user is gone'];
  if (!after.isWellFormed()) return ['text: the chat is not well-formed'];
  if (attack.kind === 'chat') return [];
  if (!after.startsWith(before)) return ['lost: the chat does not begin as it did'];
  const { turns } = parseChat(after);
  const own = parseChat(before).turns.filter(({ role }) => role === 'user').length;
  const users = turns.filter(({ role }) => role === 'user');
  const calls = turns.flatMap((turn) => turn.calls);
  const forged = calls.filter(({ server }) => FORGED_SERVERS.has(server));
  const last = users.length > own ? turnBody(after, users[users.length - 1] as never).trim() : '';
  return [
    ...(turns.some(({ role }) => role === 'system') ? ['forged: a turn of the system'] : []),
    ...(users.length > own + 1 || last !== '' ? [`forged: a turn of the user: ${last.slice(0, 80)}`] : []),
    ...turns
      .filter((turn) => turn.role === 'tool' && turnBody(after, turn).length > BUDGET.resultChars)
      .map(() => 'long: a result in the chat'),
    ...forged.map(({ server, tool }) => `forged: the call ${server}.${tool}`),
    ...(turns.filter(({ role }) => role === 'tool').length > calls.length
      ? ['forged: a result without a call']
      : []),
    ...checkInert(after.slice(before.length)),
  ];
}

/** In a viewer of Markdown that allows HTML, only files of the chat are loaded. */
function checkInert(chat: string): string[] {
  if (chat.length > MAX_RENDERED_CHARS) return [];
  const html = new MarkdownIt({ html: true }).render(chat);
  const images = [...html.matchAll(/<img [^>]*>/g)].map(([tag]) => tag);
  return [
    ...(html.match(/<(script|style|base|iframe|svg|object|embed|link|meta|video|audio)\b/gi) ?? []),
    ...images.filter((tag) => !/src="cmdassets\/[\w.-]+"/.test(tag)),
  ].map((tag) => `active: ${tag.slice(0, 200)}`);
}

const MAX_RENDERED_CHARS = 50_000;

/** Signs of a defect in a message, and characters that control a terminal. */
export function checkOutput(text: string): string[] {
  const bug =
    /(TypeError(?!: (?:terminated|fetch failed))|RangeError|ReferenceError|Cannot read propert|is not a function|is not iterable).*/.exec(
      text,
    );
  const control = /[\u0000-\u0008\u000b-\u001f\u007f\u202a-\u202e\u2066-\u2069]/.exec(text);
  return [
    ...(bug ? [`bug: ${bug[0].slice(0, 200)}`] : []),
    ...(control ? [`output: U+${control[0].charCodeAt(0).toString(16)} reaches the terminal`] : []),
  ];
}
