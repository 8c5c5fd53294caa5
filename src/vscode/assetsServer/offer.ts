import { createHash } from 'node:crypto';
import * as vscode from 'vscode';

const CHATS = '**/*.chat.md';
const EXCLUDED = '**/{node_modules,.git}/**';

/** Filechat's own MCP server for the chat of VS Code, for as long as the workspace is trusted and has chats. */
export class AssetsOffer implements vscode.Disposable {
  readonly #extension: vscode.Extension<unknown>;
  readonly #subscriptions: vscode.Disposable;
  #isOffered = false;

  /** `changed` is called when it should be asked again. */
  constructor(extension: vscode.Extension<unknown>, changed: () => void) {
    this.#extension = extension;
    const chats = vscode.workspace.createFileSystemWatcher(CHATS, false, true);
    // Only the first chat and the last one matter, and who is asked again looks again.
    const appeared = () => this.#isOffered || changed();
    const vanished = () => this.#isOffered && changed();
    this.#subscriptions = vscode.Disposable.from(
      chats,
      chats.onDidCreate(appeared),
      chats.onDidDelete(vanished),
      // A folder that goes takes its chats along, and nobody names them.
      vscode.workspace.onDidDeleteFiles(vanished),
      vscode.workspace.onDidRenameFiles(changed),
      vscode.workspace.onDidChangeWorkspaceFolders(changed),
      vscode.workspace.onDidGrantWorkspaceTrust(changed),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  async definitions(): Promise<vscode.McpStdioServerDefinition[]> {
    const folders = vscode.workspace.isTrusted
      ? (vscode.workspace.workspaceFolders ?? []).filter(({ uri }) => uri.scheme === 'file')
      : [];
    this.#isOffered = await hasChat(folders);
    return this.#isOffered ? [this.#define(folders.map(({ uri }) => uri.fsPath))] : [];
  }

  #define(folders: readonly string[]): vscode.McpStdioServerDefinition {
    const { extensionUri, packageJSON } = this.#extension;
    const of = createHash('sha256').update(JSON.stringify(folders)).digest('hex').slice(0, 8);
    return new vscode.McpStdioServerDefinition(
      vscode.l10n.t('Filechat Assets'),
      process.execPath,
      [vscode.Uri.joinPath(extensionUri, 'dist', 'assets-server.js').fsPath, ...folders],
      // On a desktop the program that runs us is the editor, which is Node only when it is told so.
      { ELECTRON_RUN_AS_NODE: '1' },
      // The editor asks the server for its tools again when this changes.
      `${packageJSON.version}+${of}`,
    );
  }
}

async function hasChat(folders: readonly vscode.WorkspaceFolder[]): Promise<boolean> {
  for (const folder of folders) {
    const [chat] = await vscode.workspace.findFiles(new vscode.RelativePattern(folder, CHATS), EXCLUDED, 1);
    if (chat) return true;
  }
  return false;
}
