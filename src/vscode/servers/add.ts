import { homedir } from 'node:os';
import * as vscode from 'vscode';
import { field } from '../../base/json.ts';
import {
  describeEntry,
  extractSecrets,
  type ImportSource,
  importSources,
  inputId,
  type NewServer,
  readEntry,
  readImport,
  type ServerEntry,
  splitCommand,
} from '../../mcp/config/entries.ts';
import { describeServer } from '../../mcp/config/fingerprint.ts';
import {
  checkHeader,
  checkServerId,
  checkUrl,
  checkVariableName,
  looksSecret,
} from '../../mcp/config/types.ts';
import { userServers, writeUserServer } from '../settings.ts';
import { readFields, readObject, readString } from '../ui/commandArguments.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import type { ServerInputs } from './inputs.ts';
import { USER_PLACE } from './settings.ts';

/**
 * Adds servers to the user settings, each after a dialog that shows its whole configuration. Without an argument, asks
 * for them step by step. Resolves to the names of the added servers.
 */
export async function addServer(inputs: ServerInputs, argument?: unknown): Promise<readonly string[]> {
  const fields = readFields(argument);
  const name = readString(fields, 'name');
  const entry = readObject(fields, 'config');
  if ((name === undefined) !== (entry === undefined)) {
    throw new TypeError(vscode.l10n.t('“name” and “config” belong together: give both, or none of them.'));
  }
  const servers = name !== undefined && entry ? [{ name, entry }] : await chooseServers();
  const added: string[] = [];
  for (const [index, server] of servers.entries()) {
    const count = servers.length > 1 ? ` ${vscode.l10n.t('({0} of {1})', index + 1, servers.length)}` : '';
    const extracted = extractSecrets(server.name, server.entry);
    const answer = await confirm({ name: server.name, ...extracted, count });
    if (answer === undefined) break;
    if (answer === 'skip') continue;
    // Stored first, so that the server never starts without its secrets.
    for (const [id, value] of extracted.secrets) await inputs.set(USER_PLACE, id, value);
    await writeUserServer(server.name, extracted.entry);
    added.push(server.name);
  }
  return added;
}

async function chooseServers(): Promise<readonly NewServer[]> {
  const imports = await findImports();
  const options = [
    {
      label: `$(terminal) ${vscode.l10n.t('A program on this machine…')}`,
      description: vscode.l10n.t('Filechat starts it when it is needed'),
      run: askForProgram,
    },
    {
      label: `$(globe) ${vscode.l10n.t('An address (HTTP)…')}`,
      description: vscode.l10n.t('It runs already, here or elsewhere'),
      run: askForAddress,
    },
    ...imports.map((place) => ({
      label: `$(cloud-download) ${vscode.l10n.t('Import from {0}…', place.app)}`,
      description: place.path,
      run: () => chooseImported(place),
    })),
  ];
  const chosen = await vscode.window.showQuickPick(options, {
    title: vscode.l10n.t('Add an MCP Server'),
    placeHolder: vscode.l10n.t('What is it?'),
  });
  return (await chosen?.run()) ?? [];
}

async function askForProgram(): Promise<readonly NewServer[] | undefined> {
  const name = await askForName();
  if (name === undefined) return undefined;
  const line = await vscode.window.showInputBox({
    title: vscode.l10n.t('{0}: the program and its arguments', name),
    prompt: vscode.l10n.t(
      'Put quotes around what holds a space. No shell reads it, so |, && and $NAME mean nothing',
    ),
    placeHolder: 'npx -y @modelcontextprotocol/server-filesystem "/my/folder"',
    ignoreFocusOut: true,
    validateInput: (text) => {
      const split = splitCommand(text);
      return split.kind === 'problem' ? split.message : undefined;
    },
  });
  const split = splitCommand(line ?? '');
  if (split.kind === 'problem') return undefined;
  const env = await askForValues(name, {
    question: vscode.l10n.t('{0}: which environment variables does it need?', name),
    example: 'GITHUB_TOKEN',
    check: checkVariableName,
  });
  if (env === undefined) return undefined;
  const { command, args } = split;
  return [{ name, entry: { command, args, ...(Object.keys(env).length > 0 && { env }) } }];
}

async function askForAddress(): Promise<readonly NewServer[] | undefined> {
  const name = await askForName();
  if (name === undefined) return undefined;
  const url = await vscode.window.showInputBox({
    title: vscode.l10n.t('{0}: its address', name),
    placeHolder: 'https://example.com/mcp',
    ignoreFocusOut: true,
    validateInput: (text) => problemOf(() => checkUrl(text.trim())),
  });
  if (url === undefined) return undefined;
  const headers = await askForValues(name, {
    question: vscode.l10n.t('{0}: which headers does it need?', name),
    example: 'Authorization',
    check: (header) => checkHeader(header, ''),
  });
  if (headers === undefined) return undefined;
  return [
    { name, entry: { type: 'http', url: url.trim(), ...(Object.keys(headers).length > 0 && { headers }) } },
  ];
}

function askForName(): Thenable<string | undefined> {
  return vscode.window.showInputBox({
    title: vscode.l10n.t('A name for the server'),
    prompt: vscode.l10n.t('Letters, digits, _ and -. Chats call its tools by this name: NAME.TOOL'),
    ignoreFocusOut: true,
    validateInput: (text) => problemOf(() => checkServerId(text)),
  });
}

interface ValueKind {
  readonly question: string;
  readonly example: string;
  readonly check: (name: string) => void;
}

/** Asks for names, then for the value of each. Resolves to undefined when the user cancels. */
async function askForValues(server: string, kind: ValueKind): Promise<Record<string, string> | undefined> {
  const split = (text: string) => text.split(/[\s,]+/).filter((each) => each !== '');
  const names = await vscode.window.showInputBox({
    title: kind.question,
    prompt: vscode.l10n.t('Their names, with spaces between. Leave it empty if there are none'),
    placeHolder: kind.example,
    ignoreFocusOut: true,
    validateInput: (text) => problemOf(() => split(text).forEach(kind.check)),
  });
  if (names === undefined) return undefined;
  const values = new Map<string, string>();
  for (const name of split(names)) {
    const value = await askForValue(server, name);
    if (value === undefined) return undefined;
    values.set(name, value);
  }
  return Object.fromEntries(values);
}

async function askForValue(server: string, name: string): Promise<string | undefined> {
  const password = looksSecret(name);
  const value = await vscode.window.showInputBox({
    title: `${server}: ${plainMessage(name)}`,
    prompt: password
      ? vscode.l10n.t(
          'It is kept in the secret store of VS Code. Leave it empty to be asked when the server starts',
        )
      : vscode.l10n.t('It is written to your settings, unless it looks like a secret'),
    password,
    ignoreFocusOut: true,
  });
  return password && value === '' ? `\${input:${inputId(server, name)}}` : value;
}

interface Confirmation extends ReturnType<typeof extractSecrets> {
  readonly name: string;
  /** Which of several servers it is; they can be skipped. */
  readonly count: string;
}

/** Resolves to undefined when the user cancels this server and all after it. */
async function confirm(asked: Confirmation): Promise<'add' | 'skip' | undefined> {
  const { name, entry, secrets, count } = asked;
  const config = readEntry({ name, entry });
  const old = field(userServers(), name) as ServerEntry | undefined;
  const [verb, question] =
    old === undefined
      ? [vscode.l10n.t('Add'), vscode.l10n.t('Add the MCP server “{0}”{1}?', name, count)]
      : [
          vscode.l10n.t('Replace'),
          vscode.l10n.t('There is one already. Replace the MCP server “{0}”{1}?', name, count),
        ];
  const skip = vscode.l10n.t('Skip');
  const notes = [
    describeServer(config),
    old !== undefined && `${vscode.l10n.t('In place of:')}\n${describeEntry({ name, entry: old })}`,
    secrets.size > 0 && vscode.l10n.t('Kept in the secret store: {0}', [...secrets.keys()].join(', ')),
    config.kind === 'stdio'
      ? vscode.l10n.t('It is written to your settings. The program is started when a chat first uses it.')
      : vscode.l10n.t('It is written to your settings. Nothing is sent there before a chat first uses it.'),
  ];
  const detail = notes.filter((note) => note).join('\n\n');
  const buttons = count === '' ? [verb] : [verb, skip];
  const answer = await vscode.window.showInformationMessage(question, { modal: true, detail }, ...buttons);
  if (answer === verb) return 'add';
  return answer === skip ? 'skip' : undefined;
}

function problemOf(check: () => void): string | undefined {
  try {
    check();
    return undefined;
  } catch (error) {
    const { message } = error as Error;
    return `${message.charAt(0).toUpperCase()}${message.slice(1)}.`;
  }
}

/** The configuration files of other MCP clients that exist. Reads none of them. */
async function findImports(): Promise<readonly ImportSource[]> {
  const { platform, env } = process;
  const places = importSources({ platform, home: homedir(), appData: env['APPDATA'] });
  const found = await Promise.all(
    places.map(({ path }) =>
      vscode.workspace.fs.stat(vscode.Uri.file(path)).then(
        () => true,
        () => false,
      ),
    ),
  );
  return places.filter((_place, index) => found[index]);
}

async function chooseImported({ app, path }: ImportSource): Promise<readonly NewServer[]> {
  const text = new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.file(path)));
  const { servers, problems } = readImport(text);
  const found = Object.entries(servers).map(([name, entry]) => ({ name, entry }));
  if (found.length === 0) {
    const reason = problems[0] ?? vscode.l10n.t('There is no MCP server in it.');
    void vscode.window.showWarningMessage(
      plainMessage(vscode.l10n.t('Nothing to import from {0}. {1}', path, reason)),
    );
    return [];
  }
  const items = found.map((server) => ({
    label: server.name,
    // The list cuts this line; the dialog that follows shows the whole entry.
    detail: describeEntry(server).replaceAll('\n', ' · ').replaceAll('$(', '$ ('),
    server,
  }));
  const chosen = await vscode.window.showQuickPick(items, {
    title: vscode.l10n.t('Import from {0}', app),
    placeHolder:
      problems.length === 0
        ? vscode.l10n.t('Which servers?')
        : plainMessage(vscode.l10n.t('Which? {0}', problems.join(' '))),
    canPickMany: true,
    ignoreFocusOut: true,
  });
  return chosen?.map(({ server }) => server) ?? [];
}
