import * as vscode from 'vscode';
import { activeChat } from '../chat/chatFiles.ts';
import { type Fields, readFields, readString, readUris } from '../ui/commandArguments.ts';
import { CLIENT_IDS, clientForm, isClient, type Launch, type McpClient } from './configurations.ts';
import { folderArgument, installLauncher } from './launcher.ts';

/**
 * Copies the configuration with which another MCP client starts the assets server. With an argument, asks nothing.
 * Resolves to undefined when the user cancels.
 */
export async function copyConfiguration(
  context: vscode.ExtensionContext,
  argument: unknown,
): Promise<{ readonly text: string } | undefined> {
  const fields = readFields(argument);
  const mayAsk = argument === undefined || argument === null;
  const client = mayAsk ? await pickClient() : readClient(fields);
  const folders = client && (await findFolders(fields, mayAsk));
  if (!client || !folders) return undefined;
  const text = clientForm(client).write(await prepareLaunch(context, folders));
  await vscode.env.clipboard.writeText(text);
  void showNextStep(client, text);
  return { text };
}

function readClient(fields: Fields): McpClient {
  const id = readString(fields, 'client') ?? 'json';
  if (isClient(id)) return id;
  throw new TypeError(
    vscode.l10n.t('“{0}” is not a supported client. Clients: {1}.', id, CLIENT_IDS.join(', ')),
  );
}

async function pickClient(): Promise<McpClient | undefined> {
  const rows = CLIENT_IDS.map((client) => ({
    label: client === 'json' ? vscode.l10n.t('Other (JSON)') : clientForm(client).name,
    description: describeTarget(client),
    client,
  }));
  const row = await vscode.window.showQuickPick(rows, {
    title: vscode.l10n.t('Copy MCP Configuration'),
    placeHolder: vscode.l10n.t('Which client should read your chats and assets?'),
    matchOnDescription: true,
  });
  return row?.client;
}

function describeTarget(client: McpClient): string {
  const place = clientForm(client).place?.(process.platform);
  if (place) return place;
  return client === 'claude-code'
    ? vscode.l10n.t('a command for the terminal')
    : vscode.l10n.t('for clients that use “mcpServers”');
}

/** The folders that the caller names, or of the workspace, or of the active chat, or that the user chooses. */
async function findFolders(fields: Fields, mayAsk: boolean): Promise<readonly string[] | undefined> {
  const chat = activeChat()?.uri;
  const found = [
    readUris(fields, 'folders') ?? [],
    (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri).filter(isOnDisk),
    chat && isOnDisk(chat) ? [vscode.Uri.joinPath(chat, '..')] : [],
  ].find((uris) => uris.length > 0);
  if (!found && !mayAsk) throw new Error(vscode.l10n.t('Open a folder or a chat first, or pass “folders”.'));
  const folders = found ?? (await askForFolders());
  const other = folders?.find((uri) => !isOnDisk(uri))?.toString();
  if (other === undefined) return folders?.map(({ fsPath }) => fsPath);
  throw new Error(vscode.l10n.t('{0} is not a folder on a disk, so no other program can read it.', other));
}

function isOnDisk({ scheme }: vscode.Uri): boolean {
  return scheme === 'file';
}

async function askForFolders(): Promise<readonly vscode.Uri[] | undefined> {
  return vscode.window.showOpenDialog({
    canSelectFiles: false,
    canSelectFolders: true,
    canSelectMany: true,
    title: vscode.l10n.t('Folders with Chats'),
    openLabel: vscode.l10n.t('Choose'),
  });
}

async function prepareLaunch(context: vscode.ExtensionContext, folders: readonly string[]): Promise<Launch> {
  const { platform } = process;
  if (isOnDisk(context.globalStorageUri)) {
    const args = [await installLauncher(context), ...folders.map(folderArgument)];
    return { command: 'node', args, platform };
  }
  const server = vscode.Uri.joinPath(context.extensionUri, 'dist', 'assets-server.js').fsPath;
  return { command: 'node', args: [server, ...folders], platform };
}

async function showNextStep(client: McpClient, text: string): Promise<void> {
  const show = vscode.l10n.t('Show');
  const sentences = [nextStep(client)];
  const { remoteName } = vscode.env;
  if (remoteName)
    sentences.push(
      vscode.l10n.t('The chats are on a remote machine ({0}). The client must run there too.', remoteName),
    );
  if ((await vscode.window.showInformationMessage(sentences.join(' '), show)) !== show) return;
  const { language } = clientForm(client);
  const document = await vscode.workspace.openTextDocument({ language, content: text });
  await vscode.window.showTextDocument(document);
}

function nextStep(client: McpClient): string {
  const { name, place } = clientForm(client);
  if (place) {
    const file = place(process.platform);
    return vscode.l10n.t(
      'Configuration for {0} copied. Paste it into {1}, next to the existing servers.',
      name,
      file,
    );
  }
  return client === 'claude-code'
    ? vscode.l10n.t('Command for Claude Code copied. Run it in a terminal.')
    : vscode.l10n.t('Configuration copied. Paste it into the server configuration of your client.');
}
