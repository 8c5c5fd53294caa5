import * as vscode from 'vscode';
import { readFolder } from '../chat/chatFiles.ts';

const MAX_FOLDERS = 50;

interface Known {
  readonly watcher: vscode.Disposable;
  names: Promise<readonly string[]> | undefined;
}

/** The file names in a folder beside a chat, cached until a file is created or deleted. */
export class FolderNames implements vscode.Disposable {
  readonly #folder: string;
  readonly #known = new Map<string, Known>();

  constructor(folder: string) {
    this.#folder = folder;
  }

  dispose(): void {
    for (const { watcher } of this.#known.values()) watcher.dispose();
    this.#known.clear();
  }

  beside(chat: vscode.Uri): Promise<readonly string[]> {
    const folder = vscode.Uri.joinPath(chat, '..', this.#folder);
    const known = this.#known.get(folder.toString()) ?? this.#watch(folder);
    known.names ??= readNames(folder);
    return known.names;
  }

  #watch(folder: vscode.Uri): Known {
    const [oldest] = this.#known.size >= MAX_FOLDERS ? this.#known : [];
    if (oldest) {
      oldest[1].watcher.dispose();
      this.#known.delete(oldest[0]);
    }
    const pattern = new vscode.RelativePattern(folder, '*');
    const files = vscode.workspace.createFileSystemWatcher(pattern, false, true, false);
    const forget = () => {
      known.names = undefined;
    };
    const watcher = vscode.Disposable.from(files, files.onDidCreate(forget), files.onDidDelete(forget));
    const known: Known = { watcher, names: undefined };
    this.#known.set(folder.toString(), known);
    return known;
  }
}

async function readNames(folder: vscode.Uri): Promise<readonly string[]> {
  return (await readFolder(folder)).flatMap(([name, type]) => (type === vscode.FileType.File ? [name] : []));
}

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
