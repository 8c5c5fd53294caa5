import { homedir } from 'node:os';
import { sep } from 'node:path';
import { field, isObject, parseJsonWithComments } from '../../base/json.ts';
import { checkHeader, checkNoNul, checkServerId, checkUrl, checkVariableName } from './checks.ts';
import { type InputDefinition, readInputs } from './inputs.ts';
import type { OAuthConfig, RemoteServer, ServerConfig, StdioServer } from './types.ts';

interface ServersRead {
  readonly servers: ReadonlyMap<string, ServerConfig>;
  /** The same servers with their variables unexpanded, for display. */
  readonly written: ReadonlyMap<string, ServerConfig>;
  /** One sentence for each entry that was skipped: which one, why, and what to do. */
  readonly problems: readonly string[];
}

interface ServersFileRead extends ServersRead {
  readonly inputs: ReadonlyMap<string, InputDefinition>;
}

/** Reads the value of `servers`. Each invalid entry becomes a problem; disabled entries are skipped silently. */
export function readServers(json: unknown, expansion: Expansion): ServersRead {
  const servers = new Map<string, ServerConfig>();
  const written = new Map<string, ServerConfig>();
  const problems: string[] = [];
  if (json === undefined || json === null) return { servers, written, problems };
  if (!isObject(json)) {
    problems.push('The MCP servers must be an object: { "NAME": { "command": … } }.');
    return { servers, written, problems };
  }
  for (const [name, entry] of Object.entries(json)) {
    if (field(entry, 'disabled') === true) continue;
    try {
      checkServerId(name);
      const config = readServer(entry, expansion);
      const { fromEnvironment } = config;
      written.set(name, { ...readServer(entry, 'asWritten'), ...(fromEnvironment && { fromEnvironment }) });
      servers.set(name, config);
    } catch (error) {
      problems.push(`MCP server ${JSON.stringify(name)} is left out: ${(error as Error).message}.`);
    }
  }
  return { servers, written, problems };
}

/** Reads a file such as `.vscode/mcp.json`. Other apps call `servers` `mcpServers`. */
export function readServersFile(text: string, expansion: Expansion): ServersFileRead {
  let json: unknown;
  try {
    json = parseJsonWithComments(text);
  } catch (error) {
    return unreadable(`The MCP servers file is not JSON: ${(error as Error).message}.`);
  }
  const servers = isObject(json) ? (field(json, 'servers') ?? field(json, 'mcpServers')) : undefined;
  if (servers === undefined) {
    return unreadable(
      'The MCP servers file has no "servers"; it must look like { "servers": { "NAME": { … } } }.',
    );
  }
  const read = readServers(servers, expansion);
  const { inputs, problems } = readInputs(field(json, 'inputs'));
  return { ...read, inputs, problems: [...read.problems, ...problems] };
}

const KINDS: ReadonlyMap<unknown, ServerConfig['kind']> = new Map([
  ['stdio', 'stdio'],
  ['http', 'http'],
  ['streamable-http', 'http'],
  ['streamableHttp', 'http'],
  ['sse', 'sse'],
]);

export function kindOf(entry: object): ServerConfig['kind'] {
  const type = field(entry, 'type');
  if (type !== undefined) {
    const kind = KINDS.get(type);
    if (kind === undefined) throw new Error('its "type" must be "stdio", "http" or "sse"');
    return kind;
  }
  if (field(entry, 'command') !== undefined) return 'stdio';
  if (addressOf(entry) !== undefined) return 'http';
  throw new Error('it has neither "command" nor "url"; give one of them');
}

/** Other apps use other names for `url`. */
export function addressOf(entry: object): unknown {
  return field(entry, 'url') ?? field(entry, 'serverUrl') ?? field(entry, 'httpUrl');
}

function readServer(entry: unknown, expansion: Expansion): ServerConfig {
  if (!isObject(entry)) throw new Error('it must be an object with "command" or "url"');
  const used = new Set<string>();
  const watched: Expansion =
    expansion === 'asWritten' ? expansion : { ...expansion, onEnvironment: (name) => used.add(name) };
  const kind = kindOf(entry);
  const config = kind === 'stdio' ? readStdio(entry, watched) : readRemote(kind, entry, watched);
  return used.size === 0 ? config : { ...config, fromEnvironment: [...used] };
}

function readStdio(entry: object, expansion: Expansion): StdioServer {
  const command = readText('command', field(entry, 'command'), expansion);
  const args = field(entry, 'args') ?? [];
  if (!Array.isArray(args)) throw new Error('its "args" must be a list of strings');
  const config: StdioServer = {
    kind: 'stdio',
    command,
    args: args.map((arg: unknown, index) => readArgument(`args[${index}]`, arg, expansion)),
    env: readRecord('env', field(entry, 'env'), expansion, checkVariableName),
    ...readOptional('cwd', entry, expansion),
    ...readOptional('envFile', entry, expansion),
  };
  if (config.envFile?.includes('${input:')) {
    throw new Error(`its "envFile" is read before inputs are asked for, so it cannot use \${input:…}`);
  }
  return config;
}

function readRemote(kind: 'http' | 'sse', entry: object, expansion: Expansion): RemoteServer {
  const url = readText('url', addressOf(entry), expansion);
  checkUrl(url);
  const headers = readRecord('headers', field(entry, 'headers'), expansion, checkHeader);
  const oauth = field(entry, 'oauth');
  return isObject(oauth)
    ? { kind, url, headers, oauth: readOAuth(oauth, expansion) }
    : { kind, url, headers };
}

function readOAuth(json: object, expansion: Expansion): OAuthConfig {
  const given = field(json, 'scopes');
  const scopes = typeof given === 'string' ? given.split(' ').filter((each) => each !== '') : given;
  if (scopes !== undefined && !Array.isArray(scopes)) {
    throw new Error('its "oauth.scopes" must be a list of strings');
  }
  const config: OAuthConfig = {
    ...readOptional('clientId', json, expansion),
    ...readOptional('clientSecret', json, expansion),
    ...readOptional('clientMetadataUrl', json, expansion),
    ...(scopes === undefined
      ? {}
      : { scopes: scopes.map((each: unknown, at) => readText(`oauth.scopes[${at}]`, each, expansion)) }),
  };
  if (config.clientMetadataUrl !== undefined && !/^https:\/\//i.test(config.clientMetadataUrl)) {
    throw new Error('its "oauth.clientMetadataUrl" must start with https://');
  }
  return config;
}

function readOptional<Name extends string>(
  name: Name,
  entry: object,
  expansion: Expansion,
): { [Key in Name]?: string } {
  const value = field(entry, name);
  const given = value === undefined || value === null ? {} : { [name]: readText(name, value, expansion) };
  return given as { [Key in Name]?: string };
}

function readText(field: string, value: unknown, expansion: Expansion): string {
  const text = readArgument(field, value, expansion);
  if (text.trim() === '') throw new Error(`its "${field}" must not be empty`);
  return text;
}

/** Accepts numbers and booleans too, because people write `"PORT": 3000`. */
function readArgument(field: string, value: unknown, expansion: Expansion): string {
  if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean') {
    throw new Error(`its "${field}" must be a string`);
  }
  const text = expandVariables(String(value), expansion);
  checkNoNul(field, text);
  return text;
}

function readRecord(
  field: string,
  value: unknown,
  expansion: Expansion,
  check: (name: string, text: string) => void,
): Record<string, string> {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw new Error(`its "${field}" must be an object of strings`);
  const entries = Object.entries(value)
    .filter(([, item]) => item !== null)
    .map(([name, item]) => [name, readArgument(`${field}.${name}`, item, expansion)] as const);
  for (const [name, text] of entries) check(name, text);
  // `fromEntries` also creates an own property for "__proto__".
  return Object.fromEntries(entries);
}

function unreadable(problem: string): ServersFileRead {
  return { servers: new Map(), written: new Map(), inputs: new Map(), problems: [problem] };
}

interface VariableContext {
  readonly workspaceFolder?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Defaults to this machine's. */
  readonly userHome?: string;
  readonly pathSeparator?: string;
  /** Called with the name of each environment variable that is expanded. */
  readonly onEnvironment?: (name: string) => void;
}

/** `asWritten` keeps the variables and only checks that they are known. */
type Expansion = VariableContext | 'asWritten';

const VARIABLE = /\$\{([^}]*)\}/g;
const ENVIRONMENT = 'env:';
const INPUT = 'input:';

/**
 * Expands variables except `${input:ID}`, which is resolved when the server starts. Throws for a variable without a
 * value: an empty string could start the wrong command or send an empty token.
 */
function expandVariables(text: string, expansion: Expansion): string {
  return text.replace(VARIABLE, (whole, name: string) => {
    if (!isKnown(name)) {
      throw new Error(
        `it uses ${whole}; only \${workspaceFolder}, \${userHome}, \${pathSeparator}, \${env:NAME} and \${input:ID} are known here`,
      );
    }
    return expansion === 'asWritten' || name.startsWith(INPUT) ? whole : lookUp(whole, name, expansion);
  });
}

const PLAIN_NAMES: ReadonlySet<string> = new Set(['workspaceFolder', 'userHome', 'pathSeparator', '/']);

function isKnown(name: string): boolean {
  return (
    PLAIN_NAMES.has(name) ||
    name.startsWith(ENVIRONMENT) ||
    (name.startsWith(INPUT) && name.length > INPUT.length)
  );
}

function lookUp(whole: string, name: string, context: VariableContext): string {
  switch (name) {
    case 'workspaceFolder':
      if (context.workspaceFolder === undefined) {
        throw new Error(`it uses ${whole}, but no folder is open; open one or write the path`);
      }
      return context.workspaceFolder;
    case 'userHome':
      return context.userHome ?? homedir();
    case 'pathSeparator':
    case '/':
      return context.pathSeparator ?? sep;
    default:
      return lookUpEnvironment(whole, name.slice(ENVIRONMENT.length), context);
  }
}

function lookUpEnvironment(whole: string, variable: string, context: VariableContext): string {
  const value = Object.hasOwn(context.env, variable) ? context.env[variable] : undefined;
  if (value === undefined) {
    throw new Error(`it uses ${whole}, but that environment variable is not set; set it and start again`);
  }
  context.onEnvironment?.(variable);
  return value;
}
