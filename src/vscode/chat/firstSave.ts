import * as vscode from 'vscode';
import { ASSET_FOLDER } from '../../base/assetNames.ts';
import { messageOf } from '../../base/errors.ts';
import { assetsLinkedIn, relinkAssets } from '../../chat/edits/relink.ts';
import type { Log } from '../../ports/document.ts';
import { showProblem } from '../ui/outcomes.ts';
import { isChat, isMissing, rangeOf } from './chatFiles.ts';
import type { StoreFor } from './stores.ts';

interface MoveDeps {
  readonly storeFor: StoreFor;
  readonly globalStorage: vscode.Uri;
  readonly log: Log;
}

/**
 * An unsaved chat keeps its assets in the global storage. When it is saved, they are copied beside it, and its links
 * follow in one edit. The originals stay, because Undo brings back the links to them, and other unsaved chats may use
 * them, also in other windows.
 */
export function moveAssetsOnSave(deps: MoveDeps): vscode.Disposable {
  const mover = new AssetMover(deps);
  return vscode.Disposable.from(
    vscode.workspace.onDidCloseTextDocument((document) => mover.closed(document)),
    vscode.workspace.onDidSaveTextDocument((document) => void mover.saved(document)),
  );
}

class AssetMover {
  readonly #deps: MoveDeps;
  readonly #from: vscode.Uri;
  /** By chat. Each asset is moved once, so that a save after Undo leaves the links alone. */
  readonly #moved = new Map<string, Set<string>>();
  #lastClosed: vscode.TextDocument | undefined;

  constructor(deps: MoveDeps) {
    this.#deps = deps;
    this.#from = vscode.Uri.joinPath(deps.globalStorage, ASSET_FOLDER);
  }

  closed(document: vscode.TextDocument): void {
    if (document.isUntitled && isChat(document.uri)) this.#lastClosed = document;
  }

  async saved(document: vscode.TextDocument): Promise<void> {
    const { uri } = document;
    const names = this.#namesToMove(document);
    if (names.length === 0) return;
    try {
      await relink(uri, this.#from.path, await this.#copy(uri, names));
    } catch (error) {
      this.#moved.delete(uri.toString());
      this.#tell(error);
    }
  }

  /** Marks them as moved. */
  #namesToMove(document: vscode.TextDocument): readonly string[] {
    if (document.isUntitled || !this.#isSavedChat(document)) return [];
    const chat = document.uri.toString();
    const moved = this.#moved.get(chat) ?? new Set();
    const names = assetsLinkedIn(document.getText(), this.#from.path).filter((name) => !moved.has(name));
    if (names.length > 0) this.#moved.set(chat, new Set([...moved, ...names]));
    return names;
  }

  /** An unsaved chat may be saved under a name that is not a chat's. */
  #isSavedChat(document: vscode.TextDocument): boolean {
    if (isChat(document.uri)) return true;
    const open = vscode.workspace.textDocuments.filter((each) => each.isUntitled && isChat(each.uri));
    return [...open, this.#lastClosed].some((each) => each?.getText() === document.getText());
  }

  /** Resolves to the assets that are now beside the chat. */
  async #copy(chat: vscode.Uri, names: readonly string[]): Promise<ReadonlySet<string>> {
    const copied = new Set<string>();
    const store = await this.#deps.storeFor(chat);
    for (const name of names) {
      const bytes = await readIfThere(vscode.Uri.joinPath(this.#from, name));
      // The link led to nothing before.
      if (!bytes) continue;
      const isCopied = await store.adopt(name, bytes);
      const there = isCopied ? bytes : await readIfThere(vscode.Uri.joinPath(chat, '..', ASSET_FOLDER, name));
      if (there && Buffer.compare(there, bytes) === 0) copied.add(name);
    }
    this.#deps.log.info(`Copied ${copied.size} assets to ${ASSET_FOLDER}/ beside ${chat.toString()}.`);
    return copied;
  }

  #tell(error: unknown): void {
    const message = vscode.l10n.t(
      'The files of this chat could not be copied beside it: {0} They stay in {1}, and the links point there. Save the chat again to retry.',
      messageOf(error),
      this.#from.fsPath,
    );
    showProblem(message);
  }
}

/** Undefined if there is no such file. */
async function readIfThere(uri: vscode.Uri): Promise<Uint8Array | undefined> {
  try {
    return await vscode.workspace.fs.readFile(uri);
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

const MAX_REFUSALS = 10;

/** Edits the chat, also if it was closed after the save. */
async function relink(chat: vscode.Uri, folder: string, names: ReadonlySet<string>): Promise<void> {
  for (let refusals = 0; refusals < MAX_REFUSALS; refusals += 1) {
    const document = await vscode.workspace.openTextDocument(chat);
    const isClean = !document.isDirty;
    const edit = new vscode.WorkspaceEdit();
    const changes = relinkAssets(document.getText(), folder, names);
    for (const change of changes) edit.replace(chat, rangeOf(document, change), change.text);
    // VS Code refuses an edit if the user has typed in the meantime.
    if (changes.length > 0 && !(await vscode.workspace.applyEdit(edit))) continue;
    if (changes.length > 0 && isClean) await document.save();
    return;
  }
  throw new Error(vscode.l10n.t('The chat could not be changed.'));
}
