import { parseJsonWithComments } from '../chat/jsonc.ts';
import { field, isObject } from './json.ts';
import { expandVariables, type VariableContext } from './variables.ts';

export interface StdioServer {
  readonly kind: 'stdio';
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
}

export interface RemoteServer {
  readonly kind: 'http' | 'sse';
  readonly url: string;
  readonly headers: Readonly<Record<string, string>>;
}

export type ServerConfig = StdioServer | RemoteServer;

export interface ServersRead {
  readonly servers: ReadonlyMap<string, ServerConfig>;
  /** One sentence for each entry that was left out: which one, why, and what to do. */
  readonly problems: readonly string[];
}

/** Reads the value of `servers`. A bad entry becomes a problem, and the others live on. */
export function readServers(json: unknown, context: VariableContext): ServersRead {
  const servers = new Map<string, ServerConfig>();
  const problems: string[] = [];
  if (json === undefined || json === null) {
    return { servers, problems };
  }
  if (!isObject(json)) {
    return unreadable('The MCP servers must be an object: { "NAME": { "command": … } }.');
  }
  for (const [name, entry] of Object.entries(json)) {
    try {
      checkServerId(name);
      servers.set(name, readServer(entry, context));
    } catch (error) {
      problems.push(`MCP server ${JSON.stringify(name)} is left out: ${(error as Error).message}.`);
    }
  }
  return { servers, problems };
}

/** Reads a file such as `.vscode/mcp.json`; other hosts call the same thing `mcpServers`. */
export function readServersFile(text: string, context: VariableContext): ServersRead {
  let json: unknown;
  try {
    json = parseJsonWithComments(text);
  } catch (error) {
    return unreadable(`The MCP servers file is not JSON: ${(error as Error).message}.`);
  }
  const servers = isObject(json) ? (field(json, 'servers') ?? field(json, 'mcpServers')) : undefined;
  return servers === undefined
    ? unreadable('The MCP servers file has no "servers"; it must look like { "servers": { "NAME": { … } } }.')
    : readServers(servers, context);
}

const SERVER_ID = /^[A-Za-z0-9_-]+$/;
// These would be taken for something else as soon as someone uses a plain object as a map of servers.
const RESERVED_IDS: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);

const KINDS: ReadonlyMap<unknown, ServerConfig['kind']> = new Map([
  ['stdio', 'stdio'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['streamableHttp', 'http'],
  ['sse', 'sse'],
]);

function checkServerId(name: string): void {
  if (!SERVER_ID.test(name)) {
    throw new Error('its name may hold only letters, digits, "_" and "-"; rename it');
  }
  if (RESERVED_IDS.has(name)) {
    throw new Error('its name is reserved; rename it');
  }
}

function readServer(entry: unknown, context: VariableContext): ServerConfig {
  if (!isObject(entry)) {
    throw new Error('it must be an object with "command" or "url"');
  }
  const kind = kindOf(entry);
  return kind === 'stdio' ? readStdio(entry, context) : readRemote(kind, entry, context);
}

function kindOf(entry: object): ServerConfig['kind'] {
  const type = field(entry, 'type');
  if (type !== undefined) {
    const kind = KINDS.get(type);
    if (kind === undefined) {
      throw new Error('its "type" must be "stdio", "http" or "sse"');
    }
    return kind;
  }
  if (field(entry, 'command') !== undefined) {
    return 'stdio';
  }
  if (field(entry, 'url') !== undefined) {
    return 'http';
  }
  throw new Error('it has neither "command" nor "url"; give one of them');
}

function readStdio(entry: object, context: VariableContext): StdioServer {
  const command = readText('command', field(entry, 'command'), context);
  const args = field(entry, 'args') ?? [];
  if (!Array.isArray(args)) {
    throw new Error('its "args" must be a list of strings');
  }
  const cwd = field(entry, 'cwd');
  return {
    kind: 'stdio',
    command,
    args: args.map((arg: unknown, index) => readArgument(`args[${index}]`, arg, context)),
    env: readRecord('env', field(entry, 'env'), context, checkVariable),
    ...(cwd === undefined ? {} : { cwd: readText('cwd', cwd, context) }),
  };
}

function readRemote(kind: 'http' | 'sse', entry: object, context: VariableContext): RemoteServer {
  const url = readText('url', field(entry, 'url'), context);
  const protocol = URL.canParse(url) ? new URL(url).protocol : undefined;
  if (protocol !== 'http:' && protocol !== 'https:') {
    throw new Error('its "url" must be a whole address that starts with http:// or https://');
  }
  return { kind, url, headers: readRecord('headers', field(entry, 'headers'), context, checkHeader) };
}

function readText(field: string, value: unknown, context: VariableContext): string {
  const text = readArgument(field, value, context);
  if (text.trim() === '') {
    throw new Error(`its "${field}" must not be empty`);
  }
  return text;
}

/** Numbers and booleans are taken as their text, because people write `"PORT": 3000` and mean it. */
function readArgument(field: string, value: unknown, context: VariableContext): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    throw new Error(`its "${field}" must be a string`);
  }
  const text = expandVariables(String(value), context);
  if (text.includes('\0')) {
    throw new Error(`its "${field}" holds a NUL character; remove it`);
  }
  return text;
}

function readRecord(
  field: string,
  value: unknown,
  context: VariableContext,
  check: (name: string, text: string) => void,
): Record<string, string> {
  if (value === undefined || value === null) {
    return {};
  }
  if (!isObject(value)) {
    throw new Error(`its "${field}" must be an object of strings`);
  }
  const given = Object.entries(value).filter(([, item]) => item !== null);
  const entries = given.map(
    ([name, item]) => [name, readArgument(`${field}.${name}`, item, context)] as const,
  );
  for (const [name, text] of entries) {
    check(name, text);
  }
  // Unlike an assignment, this makes an ordinary property even of "__proto__".
  return Object.fromEntries(entries);
}

function checkVariable(name: string): void {
  if (name === '' || /[=\0]/.test(name)) {
    throw new Error(`its "env" has ${JSON.stringify(name)}, which cannot be the name of a variable`);
  }
}

function checkHeader(name: string, text: string): void {
  try {
    new Headers([[name, text]]);
  } catch {
    // The value may be a secret, so only the name is told.
    throw new Error(`its header ${JSON.stringify(name)} has a name or value that HTTP does not allow`);
  }
}

function unreadable(problem: string): ServersRead {
  return { servers: new Map(), problems: [problem] };
}
