import { mkdir } from 'node:fs/promises';
import { dirname } from 'node:path';
import * as vscode from 'vscode';
import { ASSET_FOLDER } from '../../assets/names.ts';
import { FolderAssets } from '../../assets/store.ts';
import type { AssetStore, Log } from '../../ports.ts';
import { resultLimits } from '../settings.ts';
import { WorkspaceAssets } from './workspaceAssets.ts';

const MAX_STORES = 20;

/** Where the files of each chat go: beside it if it has a beside, else where they last. */
export class AssetStores {
  readonly #globalStorage: vscode.Uri;
  readonly #log: Log;
  /** By folder: a store remembers what its folder holds, and sweeps it when it is first used. */
  readonly #stores = new Map<string, AssetStore>();
  #toldWhere = false;

  constructor(globalStorage: vscode.Uri, log: Log) {
    this.#globalStorage = globalStorage;
    this.#log = log;
  }

  async storeFor(chat: vscode.Uri): Promise<AssetStore> {
    const folder = vscode.Uri.joinPath(chat, '..');
    if (chat.scheme === 'file') {
      return this.#keep(folder, () => new FolderAssets({ folder: dirname(chat.fsPath) }));
    }
    if (chat.scheme !== 'untitled' && vscode.workspace.fs.isWritableFileSystem(chat.scheme)) {
      const spillFolder = vscode.Uri.joinPath(this.#globalStorage, 'spill').fsPath;
      const maxAssetBytes = () => resultLimits().maxAssetBytes;
      return this.#keep(folder, () => new WorkspaceAssets({ folder, spillFolder, maxAssetBytes }));
    }
    return this.#lastingStore(chat);
  }

  async #lastingStore(chat: vscode.Uri): Promise<AssetStore> {
    const folder = this.#globalStorage.fsPath;
    await mkdir(folder, { recursive: true });
    const place = vscode.Uri.joinPath(this.#globalStorage, ASSET_FOLDER);
    this.#log.info(`${chat.toString()} is not a saved file. Its assets go to ${place.fsPath}.`);
    if (!this.#toldWhere) {
      this.#toldWhere = true;
      void vscode.window.showInformationMessage(
        vscode.l10n.t('This chat is not a saved file. What its tools return is kept in {0}.', place.fsPath),
      );
    }
    return this.#keep(this.#globalStorage, () => new FolderAssets({ folder, linkPrefix: place.path }));
  }

  #keep(folder: vscode.Uri, create: () => AssetStore): AssetStore {
    const key = folder.toString();
    const store = this.#stores.get(key) ?? create();
    // The one used last is the last to go.
    this.#stores.delete(key);
    this.#stores.set(key, store);
    const [oldest] = this.#stores.keys();
    if (oldest !== undefined && this.#stores.size > MAX_STORES) this.#stores.delete(oldest);
    return store;
  }
}
