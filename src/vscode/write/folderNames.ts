import * as vscode from 'vscode';
import { readFolder } from '../chat/chatFiles.ts';

/** Folders of more chats than anybody has open. */
const MAX_FOLDERS = 50;

interface Known {
  readonly watcher: vscode.Disposable;
  names: Promise<readonly string[]> | undefined;
}

/** The names in a folder beside a chat, read once and again when one has come or gone. */
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
