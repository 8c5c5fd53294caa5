import * as vscode from 'vscode';

type Node =
  | { readonly kind: 'folder' }
  | { readonly kind: 'file'; readonly bytes: Uint8Array; readonly mtime: number };

/** Files that are nowhere but in memory, as a virtual workspace has them. Its folders must exist. */
export class MemoryFiles implements vscode.FileSystemProvider {
  readonly #nodes = new Map<string, Node>([['/', { kind: 'folder' }]]);
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  #clock = 1;
  readonly onDidChangeFile = this.#changed.event;
  /** What is thrown instead of writing, if anything is. */
  failure: (uri: vscode.Uri) => vscode.FileSystemError | undefined = () => undefined;
  /** Awaited before each write, which takes that long. */
  beforeWrite: () => Promise<void> | undefined = () => undefined;

  /** The paths of all files. */
  paths(): string[] {
    return [...this.#nodes].flatMap(([path, node]) => (node.kind === 'file' ? [path] : [])).sort();
  }

  watch(): vscode.Disposable {
    return new vscode.Disposable(() => undefined);
  }

  stat(uri: vscode.Uri): vscode.FileStat {
    const node = this.#find(uri);
    return node.kind === 'file'
      ? { type: vscode.FileType.File, ctime: 0, mtime: node.mtime, size: node.bytes.length }
      : { type: vscode.FileType.Directory, ctime: 0, mtime: 0, size: 0 };
  }

  readDirectory(uri: vscode.Uri): [string, vscode.FileType][] {
    this.#find(uri);
    const prefix = uri.path === '/' ? '/' : `${uri.path}/`;
    return [...this.#nodes].flatMap(([path, node]): [string, vscode.FileType][] => {
      const name = path.slice(prefix.length);
      if (!path.startsWith(prefix) || name === '' || name.includes('/')) return [];
      return [[name, node.kind === 'file' ? vscode.FileType.File : vscode.FileType.Directory]];
    });
  }

  createDirectory(uri: vscode.Uri): void {
    if (this.#nodes.has(uri.path)) throw vscode.FileSystemError.FileExists(uri);
    this.#nodes.set(uri.path, { kind: 'folder' });
  }

  readFile(uri: vscode.Uri): Uint8Array {
    const node = this.#find(uri);
    if (node.kind === 'folder') throw vscode.FileSystemError.FileIsADirectory(uri);
    return node.bytes;
  }

  async writeFile(uri: vscode.Uri, bytes: Uint8Array): Promise<void> {
    await this.beforeWrite();
    const failure = this.failure(uri);
    if (failure) throw failure;
    this.#find(vscode.Uri.joinPath(uri, '..'));
    this.#clock += 1;
    this.#nodes.set(uri.path, { kind: 'file', bytes: bytes.slice(), mtime: this.#clock });
    this.#changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  delete(uri: vscode.Uri): void {
    this.#find(uri);
    this.#nodes.delete(uri.path);
  }

  rename(from: vscode.Uri, to: vscode.Uri, options: { readonly overwrite: boolean }): void {
    const node = this.#find(from);
    if (this.#nodes.has(to.path) && !options.overwrite) throw vscode.FileSystemError.FileExists(to);
    this.#nodes.delete(from.path);
    this.#nodes.set(to.path, node);
  }

  #find(uri: vscode.Uri): Node {
    const node = this.#nodes.get(uri.path);
    if (!node) throw vscode.FileSystemError.FileNotFound(uri);
    return node;
  }
}
