import * as vscode from 'vscode';

const MAX_FILES = 20_000;

export interface WorkspaceFile {
  readonly uri: vscode.Uri;
  /** Relative to the workspace folder. */
  readonly path: string;
}

/** The files of the workspace, cached until a file is created or deleted. */
export class WorkspaceFiles implements vscode.Disposable {
  readonly #subscriptions: vscode.Disposable;
  #files: Promise<readonly WorkspaceFile[]> | undefined;

  constructor() {
    const forget = () => {
      this.#files = undefined;
    };
    const watcher = vscode.workspace.createFileSystemWatcher('**/*', false, true, false);
    this.#subscriptions = vscode.Disposable.from(
      watcher,
      watcher.onDidCreate(forget),
      watcher.onDidDelete(forget),
      vscode.workspace.onDidChangeWorkspaceFolders(forget),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('files') || event.affectsConfiguration('search')) forget();
      }),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  all(): Promise<readonly WorkspaceFile[]> {
    this.#files ??= this.#read().catch((error: unknown) => {
      this.#files = undefined;
      throw error;
    });
    return this.#files;
  }

  /** Agent names: files of `.filechat/` beside the chat or in a workspace folder. */
  async agents(chat: vscode.Uri): Promise<readonly string[]> {
    const roots = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri);
    const folders = [vscode.Uri.joinPath(chat, '..'), ...roots].map(
      (folder) => `${vscode.Uri.joinPath(folder, '.filechat').path}/`,
    );
    const names = (await this.all()).flatMap(({ uri: { path } }) => {
      const folder = folders.find((each) => path.startsWith(each));
      const name = folder && /^([^/]+)\.md$/.exec(path.slice(folder.length))?.[1];
      return name ? [name] : [];
    });
    return [...new Set(names)].sort();
  }

  async #read(): Promise<readonly WorkspaceFile[]> {
    const found = await vscode.workspace.findFiles('**/*', excluded(), MAX_FILES);
    const folders = vscode.workspace.workspaceFolders?.length ?? 0;
    return found.map((uri) => ({ uri, path: vscode.workspace.asRelativePath(uri, folders > 1) }));
  }
}

function excluded(): string | undefined {
  const patterns = ['files', 'search'].flatMap((section) => {
    const exclude = vscode.workspace
      .getConfiguration(section)
      .get<Readonly<Record<string, unknown>>>('exclude', {});
    return Object.entries(exclude).flatMap(([pattern, on]) => (on === true ? [pattern] : []));
  });
  return patterns.length === 0 ? undefined : `{${patterns.join(',')}}`;
}
