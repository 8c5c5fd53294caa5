import { posix, win32 } from 'node:path';
import { field, isObject } from '../../base/json.ts';
import { describeServer } from './fingerprint.ts';
import { readServers } from './readServers.ts';
import { looksSecret } from './secrets.ts';
import type { ServerConfig } from './types.ts';

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
 * by input id. Placeholders of a README, such as `<your-token>`, become inputs without a value, which the user is
 * asked for when the server starts.
 */
export function extractSecrets(
  server: string,
  entry: ServerEntry,
): { readonly entry: ServerEntry; readonly secrets: ReadonlyMap<string, string> } {
  const secrets = new Map<string, string>();
  const replace = (name: string, value: unknown): unknown => {
    const isLiteral = typeof value === 'string' && value !== '' && !value.includes('${');
    if (!isLiteral || name.includes('}')) return value;
    const id = inputId(server, name);
    if (isPlaceholder(value)) return value.replace(PLACEHOLDER, `\${input:${id}}`);
    if (!looksSecret(name, value)) return value;
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

/** What READMEs write in place of a secret, also after `Bearer`. */
const PLACEHOLDER =
  /(?:<[^<>]+>|\[[A-Za-z][^[\]]*\]|\{\{[^{}]+\}\}|\.\.\.|…|(?:[a-z]+[-_])*x{4,}|your[-_ ][\w -]*|[\w-]*[-_]here|replace[-_ ]?me|change[-_ ]?me)$/i;

function isPlaceholder(value: string): boolean {
  const [, last = value] = /^(?:Bearer|Token|Basic)\s+(.*)$/i.exec(value) ?? [];
  return PLACEHOLDER.exec(last)?.index === 0;
}
