import { isLoopback } from '../../base/addresses.ts';
import { describeServer } from '../../mcp/config/fingerprint.ts';
import { inputsOf } from '../../mcp/config/inputs.ts';
import { looksSecret, MASK } from '../../mcp/config/secrets.ts';
import { type extractSecrets, readEntry } from '../../mcp/config/serverEntry.ts';
import type { ServerConfig } from '../../mcp/config/types.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { t } from '../ui/words.ts';

/** A server as it would be added. */
export interface ReviewedServer extends ReturnType<typeof extractSecrets> {
  readonly name: string;
  /** Fields that are not used. */
  readonly ignored: readonly string[];
  /** The description of the server that it replaces. */
  readonly replaces?: string | undefined;
}

/** Where servers can be saved: in the user settings, or in a folder of the workspace. */
export interface ReviewPlace {
  readonly id: string;
  /** Undefined for the user settings. */
  readonly folder?: string | undefined;
}

/** A row of the review. Only a row with an action can be chosen. */
export interface ReviewRow {
  readonly label: string;
  readonly description?: string;
  readonly isTitle?: boolean;
  readonly action?: ReviewAction;
}

export type ReviewAction =
  | { readonly kind: 'add'; readonly place: string }
  | { readonly kind: 'rename' | 'leaveOut'; readonly name: string };

/** Everything that would be started or connected to, complete, below the ways to add it. */
export function reviewRows(
  servers: readonly ReviewedServer[],
  places: readonly ReviewPlace[],
  problems: readonly string[] = [],
): readonly ReviewRow[] {
  return [
    ...places.map((place) => placeRow(place, servers)),
    ...servers.flatMap((server) => serverRows(server, servers.length > 1)),
    ...problems.map((problem) => ({ label: `$(warning) ${plainMessage(problem)}` })),
    { label: t('Change'), isTitle: true },
    ...servers.map(({ name }) => ({
      label: `$(edit) ${t('Rename {0}…', name)}`,
      action: { kind: 'rename', name } as const,
    })),
    ...(servers.length < 2 ? [] : servers).map(({ name }) => ({
      label: `$(circle-slash) ${t('Exclude {0}', name)}`,
      action: { kind: 'leaveOut', name } as const,
    })),
  ];
}

function placeRow({ id, folder }: ReviewPlace, servers: readonly ReviewedServer[]): ReviewRow {
  const verb = servers.some(({ replaces }) => replaces !== undefined)
    ? folder === undefined
      ? t('Replace in User Settings and Start')
      : t('Replace in Workspace and Start')
    : folder === undefined
      ? t('Add to User Settings and Start')
      : t('Add to Workspace and Start');
  return {
    label: folder === undefined ? `$(account) ${verb}` : `$(root-folder) ${verb}`,
    description: folder === undefined ? t('for all workspaces') : plainMessage(`${folder}/.vscode/mcp.json`),
    action: { kind: 'add', place: id },
  };
}

function serverRows(server: ReviewedServer, isOneOfSeveral: boolean): readonly ReviewRow[] {
  const { name, entry, secrets, ignored, replaces } = server;
  const config = readEntry({ name, entry });
  const title = config.kind === 'stdio' ? t('Starts this program') : t('Connects to this address');
  const asked = inputsOf(config).filter((id) => !secrets.has(id));
  const notes = [
    secrets.size > 0 && `$(key) ${t('Stored as secrets: {0}', [...secrets.keys()].map(lastPart).join(', '))}`,
    asked.length > 0 && `$(question) ${t('Asked for at startup: {0}', asked.map(lastPart).join(', '))}`,
    isUnencrypted(config) &&
      `$(warning) ${t('Not encrypted: others on the network can read what is sent to this server.')}`,
    ignored.length > 0 && `$(info) ${t('Not used: {0}', plainMessage(ignored.join(', ')))}`,
  ].filter((note) => note !== false);
  return [
    { label: isOneOfSeveral ? name : `${name} · ${title}`, isTitle: true },
    ...linesOf(describeServer(config, looksSecret), secrets),
    ...notes.map((label) => ({ label })),
    ...(replaces === undefined
      ? []
      : [{ label: t('Replaces'), isTitle: true }, ...linesOf(replaces, new Map())]),
  ];
}

/** The lines of a description, broken so that a list shows them whole. Stored secrets are masked. */
function linesOf(description: string, secrets: ReadonlyMap<string, string>): readonly ReviewRow[] {
  return description
    .split('\n')
    .filter((line) => !line.startsWith('inputs: '))
    .flatMap((line) => {
      const masked = [...secrets.keys()].reduce((text, id) => text.replaceAll(`\${input:${id}}`, MASK), line);
      return wrap(masked.replaceAll('$(', '$ ('));
    })
    .map((line) => ({ label: line }));
}

/** What a list of the default width shows. */
const MAX_LINE_CHARS = 72;

/** Breaks a line, at spaces if there are any; the lines after the first are indented. */
export function wrap(line: string): readonly string[] {
  const lines: string[] = [];
  for (let rest = line; rest !== ''; ) {
    const room = MAX_LINE_CHARS - (lines.length > 0 ? INDENT.length : 0);
    const space = rest.length > room ? rest.lastIndexOf(' ', room - 1) : -1;
    const end = rest.length <= room ? rest.length : space > room / 2 ? space + 1 : room;
    lines.push(`${lines.length > 0 ? INDENT : ''}${rest.slice(0, end)}`);
    rest = rest.slice(end);
  }
  return lines;
}

const INDENT = '\u00A0\u00A0\u00A0\u00A0';

function lastPart(id: string): string {
  return plainMessage(id.slice(id.indexOf('.') + 1));
}

function isUnencrypted(config: ServerConfig): boolean {
  if (config.kind === 'stdio' || !URL.canParse(config.url)) return false;
  const url = new URL(config.url);
  return url.protocol === 'http:' && !isLoopback(url);
}
