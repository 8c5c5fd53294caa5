import { createHash } from 'node:crypto';
import { mkdir, readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { FolderAssets, type NamingOptions, NumberedAssets, sweepChatFolder } from '../../assets/store.ts';
import { sweepLeftovers, temporaryName } from '../../assets/writeFile.ts';
import { ASSET_FOLDER } from '../../base/assetNames.ts';
import { RecentValues } from '../../base/collections.ts';
import type { Log } from '../../ports/document.ts';
import type { AssetBytes, NewAsset } from '../../ports/results.ts';
import { resultLimits } from '../settings.ts';

const MAX_STORES = 20;

/** For files, replies and results that could not be written to their chat. */
export function recoveryFolder(globalStorage: vscode.Uri): vscode.Uri {
  return vscode.Uri.joinPath(globalStorage, 'recovered');
}

export type StoreFor = (chat: vscode.Uri) => Promise<NumberedAssets>;

/** The asset store of each chat: beside the chat, or in the global storage if it is not saved. */
export function assetStores(globalStorage: vscode.Uri, log: Log): StoreFor {
  /** By folder. A store indexes its folder, so it is reused. */
  const stores = new RecentValues<NumberedAssets>(MAX_STORES);
  const spillFolder = vscode.Uri.joinPath(globalStorage, 'spill').fsPath;
  const recovery = recoveryFolder(globalStorage).fsPath;
  const maxAssetBytes = () => resultLimits().maxAssetBytes;
  let isPlaceShown = false;
  return async (chat) => {
    const folder = vscode.Uri.joinPath(chat, '..');
    if (chat.scheme === 'file')
      return stores.get(folder.toString(), () => {
        const local = dirname(chat.fsPath);
        void sweepChatFolder(local);
        return new FolderAssets({ folder: local, recovery });
      });
    if (chat.scheme !== 'untitled' && vscode.workspace.fs.isWritableFileSystem(chat.scheme)) {
      const options = { folder, spillFolder, recovery, maxAssetBytes };
      return stores.get(folder.toString(), () => new WorkspaceAssets(options));
    }
    await mkdir(globalStorage.fsPath, { recursive: true });
    const place = vscode.Uri.joinPath(globalStorage, ASSET_FOLDER);
    log.info(`${chat.toString()} is not a saved file. Its assets go to ${place.fsPath}.`);
    if (!isPlaceShown) {
      isPlaceShown = true;
      void vscode.window.showInformationMessage(
        vscode.l10n.t(
          'This chat is not a saved file. Files that its tools return are stored in {0} and copied beside the chat when you save it.',
          place.fsPath,
        ),
      );
    }
    const options = { folder: globalStorage.fsPath, linkPrefix: place.path };
    return stores.get(globalStorage.toString(), () => new FolderAssets(options));
  };
}

interface WorkspaceAssetsOptions extends NamingOptions {
  readonly folder: vscode.Uri;
  /** A local folder for long strings while they arrive. */
  readonly spillFolder: string;
  /** The `FileSystem` API writes whole arrays, so this much must fit into memory. */
  readonly maxAssetBytes: () => number;
}

interface Saved {
  readonly name: string;
  readonly mtime: number;
  readonly size: number;
}

const MAX_REMEMBERED = 1_000;

/** Assets beside a chat in a remote or virtual workspace. */
export class WorkspaceAssets extends NumberedAssets {
  readonly #options: WorkspaceAssetsOptions;
  readonly #folder: vscode.Uri;
  /** By hash. Only assets saved here: reading a whole remote folder costs more than a duplicate. */
  readonly #saved = new Map<string, Saved>();
  #swept = false;

  constructor(options: WorkspaceAssetsOptions) {
    super(options);
    this.#options = options;
    this.#folder = vscode.Uri.joinPath(options.folder, ASSET_FOLDER);
  }

  async spillFolder(): Promise<string> {
    const { spillFolder } = this.#options;
    await mkdir(spillFolder, { recursive: true });
    if (!this.#swept) await sweepLeftovers(spillFolder).catch(() => undefined);
    this.#swept = true;
    return spillFolder;
  }

  protected async find(asset: NewAsset): Promise<string | undefined> {
    if (!(asset.bytes instanceof Uint8Array)) return undefined;
    const key = keyOf(asset, asset.bytes);
    const saved = this.#saved.get(key);
    if (!saved) return undefined;
    const found = await this.#stat(saved.name);
    const untouched =
      found?.type === vscode.FileType.File && found.mtime === saved.mtime && found.size === saved.size;
    if (untouched) return saved.name;
    this.#saved.delete(key);
    return undefined;
  }

  protected async create(name: string, asset: NewAsset): Promise<boolean> {
    await this.#makeFolder();
    const whole = await this.#inMemory(asset.bytes);
    const temporary = this.#file(temporaryName());
    try {
      await vscode.workspace.fs.writeFile(temporary, whole);
      await vscode.workspace.fs.rename(temporary, this.#file(name), { overwrite: false });
    } catch (error) {
      await vscode.workspace.fs.delete(temporary).then(undefined, () => undefined);
      if (hasFileCode(error, 'FileExists')) return false;
      throw error;
    }
    if (!asset.isPartial) await this.#remember(name, asset);
    return true;
  }

  protected async remove(name: string): Promise<void> {
    await vscode.workspace.fs.delete(this.#file(name));
  }

  async #remember(name: string, asset: NewAsset): Promise<void> {
    if (!(asset.bytes instanceof Uint8Array)) return;
    const found = await this.#stat(name);
    if (!found) return;
    const [oldest] = this.#saved.keys();
    if (oldest !== undefined && this.#saved.size >= MAX_REMEMBERED) this.#saved.delete(oldest);
    this.#saved.set(keyOf(asset, asset.bytes), { name, mtime: found.mtime, size: found.size });
  }

  protected explain(error: unknown): string {
    if (!(error instanceof Error)) return String(error);
    const code = error instanceof vscode.FileSystemError ? error.code : '';
    return REASONS[code] ?? error.message;
  }

  /** Requires a real folder: a symbolic link could lead anywhere. */
  async #makeFolder(): Promise<void> {
    const found = await vscode.workspace.fs.stat(this.#folder).then(undefined, (error: unknown) => {
      if (!hasFileCode(error, 'FileNotFound')) throw error;
    });
    if (!found) return vscode.workspace.fs.createDirectory(this.#folder);
    if (found.type & vscode.FileType.SymbolicLink)
      throw new Error('it is a symbolic link. Put a real folder in its place.');
    if (!(found.type & vscode.FileType.Directory))
      throw new Error('it is a file. Put a folder in its place.');
  }

  async #inMemory(bytes: AssetBytes): Promise<Uint8Array> {
    if (bytes instanceof Uint8Array) return bytes;
    if (bytes.size > this.#options.maxAssetBytes()) {
      throw new Error('it is larger than filechat.results.maxAssetBytes allows.');
    }
    return readFile(bytes.path);
  }

  async #stat(name: string): Promise<vscode.FileStat | undefined> {
    return vscode.workspace.fs.stat(this.#file(name)).then(undefined, () => undefined);
  }

  #file(name: string): vscode.Uri {
    return vscode.Uri.joinPath(this.#folder, name);
  }
}

function keyOf({ maker = 'tool', kind, extension }: NewAsset, bytes: Uint8Array): string {
  return `${maker}.${kind}.${extension}.${createHash('sha256').update(bytes).digest('base64')}`;
}

function hasFileCode(error: unknown, code: string): boolean {
  return error instanceof vscode.FileSystemError && error.code === code;
}

const REASONS: Readonly<Record<string, string>> = {
  NoPermissions: 'permission to write to the folder was denied. Change it and call the tool again.',
  Unavailable: 'its file system is not available. Reconnect and call the tool again.',
  FileNotFound: 'the folder of the chat does not exist.',
  FileNotADirectory: 'it is a file. Put a folder in its place.',
};
