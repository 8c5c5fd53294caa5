import { posix, win32 } from 'node:path';
import { defined, field, isObject, parseJsonWithComments } from '../../base/json.ts';
import { describeServer } from './fingerprint.ts';
import { addressOf, findKind, readServers } from './servers.ts';
import { looksSecret, type ServerConfig, serverIdProblem } from './types.ts';

export type ImportApp = 'Claude Desktop' | 'Cursor' | 'Windsurf' | 'Claude Code' | 'VS Code';

export interface ImportSource {
  readonly app: ImportApp;
  readonly path: string;
}

export interface Machine {
  readonly platform: NodeJS.Platform;
  readonly home: string;
  /** `%APPDATA%` on Windows. */
  readonly appData?: string | undefined;
}

export function importSources({ platform, home, appData }: Machine): readonly ImportSource[] {
  const { join } = platform === 'win32' ? win32 : posix;
  const support =
    platform === 'win32'
      ? (appData ?? join(home, 'AppData', 'Roaming'))
      : join(home, ...(platform === 'darwin' ? ['Library', 'Application Support'] : ['.config']));
  return [
    { app: 'Claude Desktop', path: join(support, 'Claude', 'claude_desktop_config.json') },
    { app: 'Cursor', path: join(home, '.cursor', 'mcp.json') },
    { app: 'Windsurf', path: join(home, '.codeium', 'windsurf', 'mcp_config.json') },
    { app: 'Claude Code', path: join(home, '.claude.json') },
    { app: 'VS Code', path: join(support, 'Code', 'User', 'mcp.json') },
  ];
}

/** Reads the servers of another app's file as entries of our setting. Each invalid entry becomes a problem. */
export function readImport(text: string): {
  readonly servers: Readonly<Record<string, ServerEntry>>;
  readonly problems: readonly string[];
} {
  let json: unknown;
  try {
    json = parseJsonWithComments(text);
  } catch (error) {
    return { servers: {}, problems: [`The file is not JSON: ${(error as Error).message}.`] };
  }
  const servers = new Map<string, ServerEntry>();
  const problems: string[] = [];
  for (const [given, item] of serverEntries(json)) {
    const name = chooseName(given, servers);
    const entry = isObject(item) ? translate(name, item) : item;
    const read = readServers({ [name]: entry }, 'asWritten');
    if (isObject(entry) && read.servers.has(name)) servers.set(name, entry);
    problems.push(...read.problems);
  }
  return { servers: Object.fromEntries(servers), problems };
}

/** The servers of the user, and those that Claude Code stores per project. */
function serverEntries(json: unknown): readonly (readonly [string, unknown])[] {
  const own = field(json, 'mcpServers') ?? field(json, 'servers');
  const projects = field(json, 'projects');
  const folders = isObject(projects) ? Object.values(projects) : [];
  return [own, ...folders.map((folder) => field(folder, 'mcpServers'))].flatMap((servers) =>
    isObject(servers) ? Object.entries(servers) : [],
  );
}

function chooseName(given: string, taken: ReadonlyMap<string, unknown>): string {
  const plain = given.replace(/[^A-Za-z0-9_-]+/g, '-').replace(/^-+|-+$/g, '') || 'server';
  for (let number = 1; ; number += 1) {
    const name = number === 1 ? plain : `${plain}-${number}`;
    if (!taken.has(name) && serverIdProblem(name) === undefined) return name;
  }
}

/** The known fields under our names, without `disabled`: importing a server enables it. */
function translate(name: string, entry: ServerEntry): ServerEntry {
  const { command, args, env, cwd, envFile, headers } = entry;
  const given = { ...entry, type: entry['type'] ?? entry['transport'] };
  const address = addressOf(entry);
  const isRemote = findKind(given) !== 'stdio' && (given.type ?? address) !== undefined;
  const fields: ServerEntry = isRemote
    ? { type: remoteType(given, address), url: address, headers, oauth: readAuth(entry) }
    : { command, args, env, cwd, envFile };
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([key, value]) => [key, mapValues(value, (text) => translateVariables(name, text))]),
  );
}

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

/** Other apps write environment variables as `${NAME}`. Input ids are made unique per server. */
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

export type ServerEntry = Readonly<Record<string, unknown>>;

export interface NewServer {
  readonly name: string;
  readonly entry: ServerEntry;
}

/** Reads an entry with its variables unexpanded. Throws if it is invalid or disabled. */
export function readEntry({ name, entry }: NewServer): ServerConfig {
  const { servers, problems } = readServers({ [name]: entry }, 'asWritten');
  const config = servers.get(name);
  if (config === undefined) throw new TypeError(problems[0] ?? 'A disabled server cannot be added.');
  return config;
}

/** Describes an entry that may be invalid and may contain secrets, which are masked. */
export function describeEntry(server: NewServer): string {
  try {
    return describeServer(readEntry(server), looksSecret);
  } catch (error) {
    return (error as Error).message;
  }
}

/** Server names contain no dot, so two servers never share an input. */
export function inputId(server: string, name: string): string {
  return `${server}.${name}`;
}

/**
 * Replaces each secret of an entry by `${input:ID}`, because people share their settings files. Returns the secrets
 * by input id.
 */
export function extractSecrets(
  server: string,
  entry: ServerEntry,
): { readonly entry: ServerEntry; readonly secrets: ReadonlyMap<string, string> } {
  const secrets = new Map<string, string>();
  const replace = (name: string, value: unknown): unknown => {
    const isLiteral = typeof value === 'string' && value !== '' && !value.includes('${');
    if (!isLiteral || name.includes('}') || !looksSecret(name, value)) return value;
    const id = inputId(server, name);
    secrets.set(id, value);
    return `\${input:${id}}`;
  };
  const replaced = ['env', 'headers', 'oauth'].flatMap((key) => {
    const record = field(entry, key);
    if (!isObject(record)) return [];
    return [[key, Object.fromEntries(Object.entries(record).map(([k, v]) => [k, replace(k, v)]))] as const];
  });
  return { entry: { ...entry, ...Object.fromEntries(replaced) }, secrets };
}

const PIECE = /\s+|\\*["']|\\+|[^\s\\"']+/g;

/**
 * Splits a command line into program and arguments. There is no shell: only quotes are special. A backslash escapes
 * only a double quote (`\"`) or a backslash before one (`\\"`), so that Windows paths need no escaping.
 */
export function splitCommand(
  line: string,
):
  | { readonly kind: 'command'; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: 'problem'; readonly message: string } {
  const words: string[] = [];
  let word: string | undefined;
  let open: string | undefined;
  for (const [piece] of line.matchAll(PIECE)) {
    const last = piece.at(-1) ?? '';
    const isOther = open !== undefined && last !== open;
    if (open === undefined && piece.trim() === '') {
      if (word !== undefined) words.push(word);
      word = undefined;
    } else if (isOther || (last !== '"' && last !== "'")) {
      word = `${word ?? ''}${piece}`;
    } else {
      const { text, isQuote } = readQuote(piece);
      word = `${word ?? ''}${text}`;
      if (isQuote) open = open === undefined ? last : undefined;
    }
  }
  if (open !== undefined) return { kind: 'problem', message: `The quote (${open}) is not closed.` };
  if (word !== undefined) words.push(word);
  const [command, ...args] = words;
  return command
    ? { kind: 'command', command, args }
    : { kind: 'problem', message: 'Enter the program first, then its arguments.' };
}

/** Reads backslashes followed by a quote. `isQuote` is false when the quote is escaped. */
function readQuote(piece: string): { readonly text: string; readonly isQuote: boolean } {
  const backslashes = piece.slice(0, -1);
  if (piece.endsWith("'")) return { text: backslashes, isQuote: true };
  const half = backslashes.slice(0, Math.floor(backslashes.length / 2));
  return backslashes.length % 2 === 0 ? { text: half, isQuote: true } : { text: `${half}"`, isQuote: false };
}
