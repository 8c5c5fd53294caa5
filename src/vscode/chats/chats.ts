import * as vscode from 'vscode';
import { createChat } from '../chatFiles.ts';
import { readFields, readString, readUri } from '../commandArguments.ts';
import type { SurfaceParts } from '../surface.ts';

/** A row of the view of chats. */
export interface ChatNode {
  readonly uri: vscode.Uri;
}

/** The chats of the workspace: a view, a search, new ones and samples. */
export class Chats implements vscode.Disposable, vscode.TreeDataProvider<ChatNode> {
  readonly #changed = new vscode.EventEmitter<ChatNode | undefined>();
  readonly onDidChangeTreeData = this.#changed.event;

  constructor(_parts: Pick<SurfaceParts, 'context'>) {}

  dispose(): void {
    this.#changed.dispose();
  }

  getChildren(): ChatNode[] {
    return [];
  }

  getTreeItem({ uri }: ChatNode): vscode.TreeItem {
    return new vscode.TreeItem(uri);
  }

  async create(argument: unknown): Promise<void> {
    const fields = readFields(argument);
    await createChat(readUri(fields, 'folder'), readString(fields, 'content'));
  }

  async openSample(_argument: unknown): Promise<void> {}

  async search(_argument: unknown): Promise<void> {}

  refresh(): void {
    this.#changed.fire(undefined);
  }

  async openWalkthrough(): Promise<void> {
    await vscode.commands.executeCommand(
      'workbench.action.openWalkthrough',
      'filechat.filechat#start',
      false,
    );
  }
}
