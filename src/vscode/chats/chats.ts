import * as vscode from 'vscode';
import { activeChat, createChat } from '../chat/chatFiles.ts';
import type { SurfaceParts } from '../surface.ts';
import { readFields, readString, readUri } from '../ui/commandArguments.ts';
import { failed, RUNNING, tell } from '../ui/outcomes.ts';
import { deleteChat, openPreview, renameChat, revealChat } from './actions.ts';
import type { ChatNode } from './chatItems.ts';
import { ChatTexts } from './chatTexts.ts';
import { ChatList } from './list.ts';
import { createChatAbout, quoteSelection } from './newChat.ts';
import { openSample } from './samples.ts';
import { SearchPick } from './search.ts';
import { ChatTree } from './tree.ts';

const WALKTHROUGH = 'filechat.filechat#start';

export type ChatAction = 'preview' | 'reveal' | 'rename' | 'delete';

const ACTIONS: Readonly<Record<ChatAction, (uri: vscode.Uri) => Promise<void>>> = {
  preview: openPreview,
  reveal: revealChat,
  rename: renameChat,
  delete: deleteChat,
};

/** The chats of the workspace: a view, a search, new ones and samples. */
export class Chats implements vscode.Disposable {
  readonly tree: ChatTree;
  readonly #parts: Pick<SurfaceParts, 'context' | 'runs' | 'offerSample'>;
  readonly #list = new ChatList();
  readonly #search: SearchPick;

  constructor(parts: Pick<SurfaceParts, 'context' | 'runs' | 'offerSample'>) {
    this.#parts = parts;
    const texts = new ChatTexts();
    this.tree = new ChatTree(this.#list, texts, parts.runs);
    this.#search = new SearchPick(this.#list, texts);
  }

  dispose(): void {
    this.tree.dispose();
    this.#list.dispose();
  }

  /** Who names nothing and has selected something, begins with that. */
  async create(argument: unknown): Promise<void> {
    const fields = readFields(argument);
    const content = readString(fields, 'content');
    await createChat(readUri(fields, 'folder'), argument === undefined ? quoteSelection() : content);
  }

  async createWithSelection(): Promise<void> {
    await createChat(undefined, quoteSelection());
  }

  /** A menu gives the file that was clicked, and all that are selected with it. */
  async createAbout(argument: unknown, selected: unknown): Promise<void> {
    const clicked = argument instanceof vscode.Uri ? argument : readUri(readFields(argument), 'uri');
    const all = Array.isArray(selected) ? selected.filter((each) => each instanceof vscode.Uri) : [];
    const file = clicked ?? vscode.window.activeTextEditor?.document.uri;
    await createChatAbout(all.length > 0 ? all : file ? [file] : []);
  }

  async openSample(argument: unknown): Promise<void> {
    const { context, offerSample } = this.#parts;
    if (await openSample(context.extensionUri, readString(readFields(argument), 'name'))) offerSample();
  }

  async search(argument: unknown): Promise<void> {
    await this.#search.show(readString(readFields(argument), 'query') ?? '');
  }

  refresh(): void {
    this.#list.refresh();
  }

  /** With a row of the view, a chat by its address, or the one in front. */
  async act(action: ChatAction, argument: unknown, selected: readonly ChatNode[]): Promise<void> {
    const fields = readFields(argument);
    const [row] = fields['selected'] === true ? selected : [];
    const uri = row?.kind === 'chat' ? row.uri : (readUri(fields, 'uri') ?? activeChat()?.uri);
    if (!uri || uri.scheme === 'untitled') return;
    // What a run still writes would have nowhere to go.
    if (action === 'delete' && this.#parts.runs.isRunning(uri)) return void tell(failed(RUNNING));
    await ACTIONS[action](uri);
  }

  async openWalkthrough(): Promise<void> {
    await vscode.commands.executeCommand('workbench.action.openWalkthrough', WALKTHROUGH, false);
  }
}
