import { posix, win32 } from 'node:path';
import { type ImportApp, importSources } from '../../mcp/config/serverEntry.ts';

export interface Launch {
  readonly command: string;
  readonly args: readonly string[];
  /** Decides shell quoting and the locations of configuration files. */
  readonly platform: NodeJS.Platform;
}

interface ClientForm {
  readonly name: string;
  readonly language: 'json' | 'toml' | 'shellscript';
  /** An entry for the client's configuration file, or a command that adds it. */
  readonly write: (launch: Launch) => string;
  /** The path of its configuration file, to show to the user. */
  readonly place?: ((platform: NodeJS.Platform) => string) | undefined;
}

/** Not `filechat`: that is the name of the built-in tools in our own chats. */
const SERVER_NAME = 'filechat-assets';

const STDIO = { type: 'stdio' };

const CLIENTS = {
  'claude-desktop': jsonClient('Claude Desktop', (platform) => importPlace('Claude Desktop', platform)),
  'claude-code': { name: 'Claude Code', language: 'shellscript', write: claudeCodeLine },
  cursor: jsonClient('Cursor', (platform) => importPlace('Cursor', platform), { more: STDIO }),
  windsurf: jsonClient('Windsurf', (platform) => importPlace('Windsurf', platform)),
  vscode: jsonClient('VS Code', () => '.vscode/mcp.json', { group: 'servers', more: STDIO }),
  codex: {
    name: 'Codex',
    language: 'toml',
    write: toml,
    place: (platform) => inHome(platform, '.codex', 'config.toml'),
  },
  zed: jsonClient(
    'Zed',
    (platform) => (platform === 'win32' ? '%APPDATA%\\Zed\\settings.json' : '~/.config/zed/settings.json'),
    { group: 'context_servers' },
  ),
  gemini: jsonClient('Gemini CLI', (platform) => inHome(platform, '.gemini', 'settings.json')),
  json: jsonClient('JSON', undefined),
} as const satisfies Readonly<Record<string, ClientForm>>;

export type McpClient = keyof typeof CLIENTS;

export const CLIENT_IDS = Object.keys(CLIENTS) as readonly McpClient[];

export function isClient(id: string): id is McpClient {
  return Object.hasOwn(CLIENTS, id);
}

export function clientForm(client: McpClient): ClientForm {
  return CLIENTS[client];
}

function jsonClient(
  name: string,
  place: ClientForm['place'],
  { group = 'mcpServers', more = {} }: { readonly group?: string; readonly more?: object } = {},
): ClientForm {
  const write = ({ command, args }: Launch) =>
    `${JSON.stringify({ [group]: { [SERVER_NAME]: { ...more, command, args } } }, undefined, 2)}\n`;
  return { name, language: 'json', write, place };
}

function toml({ command, args }: Launch): string {
  const list = args.map((each) => `  ${tomlString(each)},\n`).join('');
  return `[mcp_servers.${SERVER_NAME}]\ncommand = ${tomlString(command)}\nargs = [\n${list}]\n`;
}

/** TOML escapes like JSON, and in addition U+007F. */
function tomlString(text: string): string {
  return JSON.stringify(text).replaceAll('\u007f', '\\u007f');
}

/** In user scope, like the configuration files of the other clients. */
function claudeCodeLine({ command, args, platform }: Launch): string {
  const quote = platform === 'win32' ? quoteForWindows : quoteForShell;
  const words = ['claude', 'mcp', 'add', '--scope', 'user', SERVER_NAME, '--', command, ...args];
  return `${words.map(quote).join(' ')}\n`;
}

function quoteForShell(word: string): string {
  return /^[\w@%+=:,./-]+$/.test(word) ? word : `'${word.replaceAll("'", `'"'"'`)}'`;
}

/**
 * Double quotes work in cmd, PowerShell and Git Bash. Words that PowerShell would expand get single quotes. Windows
 * file names contain no double quotes.
 */
function quoteForWindows(word: string): string {
  if (/^[\w@+=:,./-]+$/.test(word)) return word;
  if (/[$`]/.test(word)) return `'${word.replaceAll("'", "''")}'`;
  // A backslash before the closing quote would escape it.
  return `"${word.replace(/\\+$/, '$&$&')}"`;
}

function importPlace(app: ImportApp, platform: NodeJS.Platform): string {
  const places = importSources({ platform, home: homeOf(platform), appData: '%APPDATA%' });
  return places.find((place) => place.app === app)?.path ?? '';
}

function inHome(platform: NodeJS.Platform, ...names: string[]): string {
  return (platform === 'win32' ? win32 : posix).join(homeOf(platform), ...names);
}

function homeOf(platform: NodeJS.Platform): string {
  return platform === 'win32' ? '%USERPROFILE%' : '~';
}
