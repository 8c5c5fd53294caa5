import { posix, win32 } from 'node:path';
import { field, isObject, parseJsonWithComments } from '../../base/json.ts';
import { checkServerId } from './checks.ts';
import { inputId, type ServerEntry } from './entry.ts';
import { addressOf, kindOf, readServers } from './servers.ts';

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
    if (!taken.has(name) && isValid(name)) return name;
  }
}

function isValid(name: string): boolean {
  try {
    checkServerId(name);
    return true;
  } catch {
    return false;
  }
}

/** The known fields under our names, without `disabled`: importing a server enables it. */
function translate(name: string, entry: ServerEntry): ServerEntry {
  const { command, args, env, cwd, envFile, headers } = entry;
  const given = { ...entry, type: entry['type'] ?? entry['transport'] };
  const address = addressOf(entry);
  const isRemote = kindOrNone(given) !== 'stdio' && (given.type ?? address) !== undefined;
  const fields: ServerEntry = isRemote
    ? { type: remoteType(given, address), url: address, headers, oauth: readAuth(entry) }
    : { command, args, env, cwd, envFile };
  return Object.fromEntries(
    Object.entries(fields)
      .filter(([, value]) => value !== undefined && value !== null)
      .map(([key, value]) => [key, mapValues(value, (text) => translateVariables(name, text))]),
  );
}

function kindOrNone(entry: ServerEntry): string | undefined {
  try {
    return kindOf(entry);
  } catch {
    return undefined;
  }
}

/** An unknown type is kept, so that `readServers` reports it. */
function remoteType(entry: ServerEntry, address: unknown): unknown {
  if (entry['type'] !== undefined) return kindOrNone(entry) ?? entry['type'];
  return typeof address === 'string' && /\/sse\/?(?:[?#]|$)/.test(address) ? 'sse' : 'http';
}

/** Cursor calls it `auth`, with other field names. */
function readAuth({ oauth, auth }: ServerEntry): unknown {
  if (oauth !== undefined || !isObject(auth)) return oauth;
  return withoutUndefined({
    clientId: auth['CLIENT_ID'],
    clientSecret: auth['CLIENT_SECRET'],
    scopes: auth['scopes'],
  });
}

function withoutUndefined(entry: ServerEntry): ServerEntry {
  return Object.fromEntries(Object.entries(entry).filter(([, value]) => value !== undefined));
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
