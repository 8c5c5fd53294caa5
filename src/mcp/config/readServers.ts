import { homedir } from 'node:os';
import { sep } from 'node:path';
import { field, isObject, parseConfig } from '../../base/json.ts';
import { type InputDefinition, readInputs } from './inputs.ts';
import {
  checkConfig,
  checkNoNul,
  checkServerId,
  mapTexts,
  type OAuthConfig,
  type RemoteServer,
  type ServerConfig,
  type StdioServer,
} from './types.ts';

interface ServersRead {
  readonly servers: ReadonlyMap<string, ServerConfig>;
  /** The same servers with their variables unexpanded, for display. */
  readonly written: ReadonlyMap<string, ServerConfig>;
  /** One sentence for each entry that was skipped: which one, why, and what to do. */
  readonly problems: readonly string[];
  /** The declared inputs; only files have them. */
  readonly inputs?: ReadonlyMap<string, InputDefinition>;
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
      const template = readTemplate(name, entry);
      const config = expansion === 'asWritten' ? template : expand(template, expansion);
      const { fromEnvironment } = config;
      written.set(name, { ...template, ...(fromEnvironment && { fromEnvironment }) });
      servers.set(name, config);
    } catch (error) {
      problems.push(`MCP server ${JSON.stringify(name)} is ignored: ${(error as Error).message}.`);
    }
  }
  return { servers, written, problems };
}

/** Reads a file such as `.vscode/mcp.json`. Other apps call `servers` `mcpServers`. */
export function readServersFile(text: string, expansion: Expansion): Required<ServersRead> {
  let json: unknown;
  try {
    json = parseConfig(text);
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

export function findKind(entry: object): ServerConfig['kind'] | undefined {
  const type = field(entry, 'type');
  if (type !== undefined) return KINDS.get(type);
  if (field(entry, 'command') !== undefined) return 'stdio';
  return addressOf(entry) === undefined ? undefined : 'http';
}

/** Other apps use other names for `url`. */
export function addressOf(entry: object): unknown {
  return field(entry, 'url') ?? field(entry, 'serverUrl') ?? field(entry, 'httpUrl');
}

/** Reads an entry with its variables unexpanded. */
function readTemplate(name: string, entry: unknown): ServerConfig {
  checkServerId(name);
  if (!isObject(entry)) throw new Error('it must be an object with "command" or "url"');
  const kind = findKind(entry);
  if (kind === undefined && field(entry, 'type') === undefined) {
    throw new Error('it has neither "command" nor "url"; give one of them');
  }
  if (kind === undefined) throw new Error('its "type" must be "stdio", "http" or "sse"');
  const config = kind === 'stdio' ? readStdio(entry) : readRemote(kind, entry);
  return mapChecked(config, checkVariables);
}

function readStdio(entry: object): StdioServer {
  return {
    kind: 'stdio',
    command: readText('command', field(entry, 'command')),
    args: readList('args', field(entry, 'args') ?? []),
    env: readRecord('env', field(entry, 'env')),
    ...readOptional('cwd', entry),
    ...readOptional('envFile', entry),
  };
}

function readRemote(kind: 'http' | 'sse', entry: object): RemoteServer {
  const url = readText('url', addressOf(entry));
  const headers = readRecord('headers', field(entry, 'headers'));
  const oauth = field(entry, 'oauth');
  return { kind, url, headers, ...(isObject(oauth) && { oauth: readOAuth(oauth) }) };
}

function readOAuth(json: object): OAuthConfig {
  const given = field(json, 'scopes');
  const scopes = typeof given === 'string' ? given.split(' ').filter((each) => each !== '') : given;
  return {
    ...readOptional('clientId', json),
    ...readOptional('clientSecret', json),
    ...readOptional('clientMetadataUrl', json),
    ...(scopes !== undefined && { scopes: readList('oauth.scopes', scopes) }),
  };
}

function readOptional<Name extends string>(name: Name, entry: object): { [Key in Name]?: string } {
  const value = field(entry, name);
  const given = value === undefined || value === null ? {} : { [name]: readText(name, value) };
  return given as { [Key in Name]?: string };
}

function readText(field: string, value: unknown): string {
  if (typeof value !== 'string') throw new Error(`its "${field}" must be a string`);
  return value;
}

/** Accepts numbers and booleans too, because people write `"PORT": 3000`. */
function readItem(field: string, value: unknown): string {
  const isPlain = typeof value === 'number' || typeof value === 'boolean';
  return readText(field, isPlain ? String(value) : value);
}

function readList(field: string, value: unknown): readonly string[] {
  if (!Array.isArray(value)) throw new Error(`its "${field}" must be a list of strings`);
  return value.map((item: unknown, at) => readItem(`${field}[${at}]`, item));
}

function readRecord(field: string, value: unknown): Readonly<Record<string, string>> {
  if (value === undefined || value === null) return {};
  if (!isObject(value)) throw new Error(`its "${field}" must be an object of strings`);
  const entries = Object.entries(value).filter(([, item]) => item !== null);
  // `fromEntries` also creates an own property for "__proto__".
  return Object.fromEntries(entries.map(([name, item]) => [name, readItem(`${field}.${name}`, item)]));
}

const MAY_BE_EMPTY = /^(?:args|env|headers)\b/;

/** Maps every text, and checks the new ones. */
function mapChecked(config: ServerConfig, map: (text: string) => string): ServerConfig {
  const mapped = mapTexts(config, (text, field) => {
    const changed = map(text);
    checkNoNul(changed, field);
    if (changed.trim() === '' && !MAY_BE_EMPTY.test(field)) {
      throw new Error(`its "${field}" must not be empty`);
    }
    return changed;
  });
  checkConfig(mapped);
  return mapped;
}

function unreadable(problem: string): ReturnType<typeof readServersFile> {
  return { servers: new Map(), written: new Map(), inputs: new Map(), problems: [problem] };
}

interface VariableContext {
  readonly workspaceFolder?: string | undefined;
  readonly env: Readonly<Record<string, string | undefined>>;
  /** Defaults to this machine's. */
  readonly userHome?: string;
  readonly pathSeparator?: string;
}

/** `asWritten` keeps the variables and only checks that they are known. */
type Expansion = VariableContext | 'asWritten';

const VARIABLE = /\$\{([^}]*)\}/g;
const ENVIRONMENT = 'env:';
const INPUT = 'input:';
const PLAIN_NAMES: ReadonlySet<string> = new Set(['workspaceFolder', 'userHome', 'pathSeparator', '/']);

function checkVariables(text: string): string {
  for (const [whole, name = ''] of text.matchAll(VARIABLE)) {
    if (isKnown(name)) continue;
    throw new Error(
      `it uses ${whole}; only \${workspaceFolder}, \${userHome}, \${pathSeparator}, \${env:NAME} and \${input:ID} are supported`,
    );
  }
  return text;
}

function isKnown(name: string): boolean {
  return (
    PLAIN_NAMES.has(name) ||
    name.startsWith(ENVIRONMENT) ||
    (name.startsWith(INPUT) && name.length > INPUT.length)
  );
}

/**
 * Expands variables except `${input:ID}`, which is resolved when the server starts. Throws for a variable without a
 * value: an empty string could start the wrong command or send an empty token.
 */
function expand(template: ServerConfig, context: VariableContext): ServerConfig {
  const used = new Set<string>();
  const config = mapChecked(template, (text) =>
    text.replace(VARIABLE, (whole, name: string) => {
      if (name.startsWith(ENVIRONMENT)) used.add(name.slice(ENVIRONMENT.length));
      return lookUp(whole, name, context);
    }),
  );
  return used.size === 0 ? config : { ...config, fromEnvironment: [...used] };
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
      return name.startsWith(INPUT) ? whole : lookUpEnvironment(whole, name, context);
  }
}

function lookUpEnvironment(whole: string, name: string, { env }: VariableContext): string {
  const variable = name.slice(ENVIRONMENT.length);
  const value = Object.hasOwn(env, variable) ? env[variable] : undefined;
  if (value !== undefined) return value;
  throw new Error(`it uses ${whole}, but that environment variable is not set; set it and start again`);
}
