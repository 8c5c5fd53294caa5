import { createHash } from 'node:crypto';
import * as vscode from 'vscode';

const CHATS = '**/*.chat.md';
const EXCLUDED = '**/{node_modules,.git}/**';

/** Offers the assets server to VS Code's own chat while the workspace is trusted and has chats. */
export class AssetsOffer implements vscode.Disposable {
  readonly #extension: vscode.Extension<unknown>;
  readonly #subscriptions: vscode.Disposable;
  #isOffered = false;

  /** `changed` is called when `definitions` may have changed. */
  constructor(extension: vscode.Extension<unknown>, changed: () => void) {
    this.#extension = extension;
    const chats = vscode.workspace.createFileSystemWatcher(CHATS, false, true);
    // Only the first and the last chat change anything.
    const onCreate = () => this.#isOffered || changed();
    const onDelete = () => this.#isOffered && changed();
    this.#subscriptions = vscode.Disposable.from(
      chats,
      chats.onDidCreate(onCreate),
      chats.onDidDelete(onDelete),
      // The watcher does not report the files in a deleted folder.
      vscode.workspace.onDidDeleteFiles(onDelete),
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
    const hash = createHash('sha256').update(JSON.stringify(folders)).digest('hex').slice(0, 8);
    return new vscode.McpStdioServerDefinition(
      vscode.l10n.t('Filechat Assets'),
      process.execPath,
      [vscode.Uri.joinPath(extensionUri, 'dist', 'assets-server.js').fsPath, ...folders],
      // Makes the editor's executable run as Node.
      { ELECTRON_RUN_AS_NODE: '1' },
      // The editor lists the tools again when this version changes.
      `${packageJSON.version}+${hash}`,
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
