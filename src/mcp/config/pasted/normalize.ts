import { defined, field, isObject } from '../../../base/json.ts';
import { addressOf, findKind } from '../readServers.ts';
import { inputId, type NewServer, type ServerEntry } from '../serverEntry.ts';
import { serverIdProblem } from '../types.ts';
import type { PastedServer } from './types.ts';
import { splitWords } from './words.ts';

/** The known fields of another host's entry under our names, without `disabled`: adding a server enables it. */
export function normalizeEntry(given: ServerEntry): Pick<PastedServer, 'entry' | 'ignored'> {
  const entry = { ...given, ...programOf(given) };
  const { args, env, cwd, envFile, headers } = entry;
  const type = TYPES.get(entry['type'] ?? entry['transport']) ?? entry['type'] ?? entry['transport'];
  const address = addressOf(entry);
  const typed = { ...entry, type };
  const isRemote = findKind(typed) !== 'stdio' && (type ?? address) !== undefined;
  const fields: ServerEntry = isRemote
    ? { type: remoteType(typed, address), url: address, headers, oauth: readAuth(entry) }
    : { command: entry['command'], args, env, cwd, envFile };
  const known = Object.entries(fields).filter(([, value]) => value !== undefined && value !== null);
  return { entry: Object.fromEntries(known), ignored: Object.keys(given).filter((key) => !USED.has(key)) };
}

/** Also those that other hosts use for the same, and those that mean nothing for a server that is added. */
const USED: ReadonlySet<string> = new Set(
  [
    'name type transport command args env environment cwd envFile url serverUrl httpUrl headers oauth auth',
    'inputs disabled enabled description source gallery version',
  ].flatMap((line) => line.split(' ')),
);

const TYPES: ReadonlyMap<unknown, string> = new Map([
  ['local', 'stdio'],
  ['remote', 'http'],
  ['streamable_http', 'http'],
]);

/** Some hosts write the program as a list, as an object, or as one line. */
function programOf(entry: ServerEntry): ServerEntry {
  const { command, env = entry['environment'] } = entry;
  if (Array.isArray(command)) {
    const [program, ...args]: unknown[] = command;
    return { command: program, args, env };
  }
  if (isObject(command)) {
    return {
      command: field(command, 'path'),
      args: field(command, 'args'),
      env: field(command, 'env') ?? env,
    };
  }
  const isLine = typeof command === 'string' && ONE_LINE.test(command) && entry['args'] === undefined;
  const [program, ...args] = isLine ? splitWords(command) : [];
  return program === undefined ? { env } : { command: program, args, env };
}

const ONE_LINE = /^(?:npx|bunx|pnpx|uvx|uv|node|deno|bun|python3?|docker|podman|pipx|cmd)\s/;

/** An unknown type is kept, so that `readServers` reports it. */
function remoteType(entry: ServerEntry, address: unknown): unknown {
  if (entry['type'] !== undefined) return findKind(entry) ?? entry['type'];
  return typeof address === 'string' && /\/sse\/?(?:[?#]|$)/.test(address) ? 'sse' : 'http';
}

/** Cursor calls it `auth`, with other field names. */
function readAuth({ oauth, auth }: ServerEntry): unknown {
  if (oauth !== undefined || !isObject(auth)) return oauth;
  const { CLIENT_ID: clientId, CLIENT_SECRET: clientSecret, scopes } = auth;
  return defined({ clientId, clientSecret, scopes });
}

/** The name, or the name with a number if it is taken. */
export function freeName(name: string, taken: { has(name: string): boolean }): string {
  for (let number = 1; ; number += 1) {
    const free = number === 1 ? name : `${name}-${number}`;
    if (!taken.has(free) && serverIdProblem(free) === undefined) return free;
  }
}

/** Translates the variables of other hosts. Input ids are made unique per server. */
export function nameServer(name: string, { entry }: Pick<PastedServer, 'entry'>): NewServer {
  const translated = Object.entries(entry).map(([key, value]) => [
    key,
    mapValues(value, (text) => translateVariables(name, text)),
  ]);
  return { name, entry: Object.fromEntries(translated) };
}

/** The definitions of the inputs that a server of this name uses, under its own ids. */
export function inputsFor({ name, entry }: NewServer, inputs: readonly unknown[]): readonly object[] {
  const text = JSON.stringify(entry);
  return inputs.filter(isObject).flatMap((input) => {
    const id = inputId(name, String(field(input, 'id')));
    return text.includes(`\${input:${id}}`) ? [{ ...input, id }] : [];
  });
}

/** Other hosts write environment variables as `${NAME}`. */
function translateVariables(server: string, text: string): string {
  return text
    .replace(/\$\{([A-Za-z_][A-Za-z0-9_]*)\}/g, (whole, variable: string) =>
      ['workspaceFolder', 'userHome', 'pathSeparator'].includes(variable) ? whole : `\${env:${variable}}`,
    )
    .replace(/\$\{input:([^}]+)\}/g, (_whole, id: string) => `\${input:${inputId(server, id)}}`);
}

function mapValues(value: unknown, map: (text: string) => string): unknown {
  if (typeof value === 'string') return map(value);
  if (Array.isArray(value)) return value.map((item: unknown) => mapValues(item, map));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, mapValues(item, map)]));
}
