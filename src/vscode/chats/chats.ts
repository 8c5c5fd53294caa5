import { basename } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import * as vscode from 'vscode';
import { quoteLines } from '../../chat/edits/fileLink.ts';
import { chatStem } from '../../chat/outline/title.ts';
import { attachFiles, insertAtCaret } from '../chat/chatCommands.ts';
import {
  activeChat,
  chatName,
  closeTabs,
  createChat,
  exists,
  placeChat,
  readText,
} from '../chat/chatFiles.ts';
import type { ChatNaming } from '../chat/naming.ts';
import { linesOf } from '../completion/symbols.ts';
import type { Runs } from '../run/runs.ts';
import { readFields, readString, readUri } from '../ui/commandArguments.ts';
import { failed, RUNNING, showProblem, tell } from '../ui/outcomes.ts';
import { confirm, moveToTrash } from '../ui/trash.ts';
import { ChatList, ChatTexts } from './chatList.ts';
import { searchChats } from './searchPick.ts';
import { type ChatNode, ChatTree } from './tree.ts';

const WALKTHROUGH = 'filechat.filechat#start';

type ChatAction = 'preview' | 'reveal' | 'rename' | 'delete';

const ACTIONS: Readonly<Record<ChatAction, (uri: vscode.Uri) => PromiseLike<void>>> = {
  preview: (uri) => vscode.commands.executeCommand('markdown.showPreviewToSide', uri),
  reveal: (uri) => vscode.commands.executeCommand('revealInExplorer', uri),
  rename: renameChat,
  delete: deleteChat,
};

/** The view of chats. */
export type SelectedChats = Pick<vscode.TreeView<ChatNode>, 'selection'>;

interface ChatsDeps {
  readonly context: vscode.ExtensionContext;
  readonly runs: Runs;
  readonly naming: Pick<ChatNaming, 'created'>;
  readonly offerSample: () => void;
}

export class Chats implements vscode.Disposable {
  readonly tree: ChatTree;
  readonly #deps: ChatsDeps;
  readonly #list = new ChatList();
  readonly #texts = new ChatTexts();

  constructor(deps: ChatsDeps) {
    this.#deps = deps;
    this.tree = new ChatTree(this.#list, this.#texts, deps.runs);
  }

  dispose(): void {
    this.tree.dispose();
    this.#list.dispose();
  }

  /** Without arguments the new chat quotes the selection. */
  async create(argument: unknown): Promise<void> {
    const fields = readFields(argument);
    const content = readString(fields, 'content');
    await this.#create(readUri(fields, 'folder'), argument === undefined ? quoteSelection() : content);
  }

  async createWithSelection(): Promise<void> {
    await this.#create(undefined, quoteSelection());
  }

  async #create(folder?: vscode.Uri, content?: string): Promise<vscode.TextDocument | undefined> {
    const document = await createChat(folder, content);
    if (document) await this.#deps.naming.created(document);
    return document;
  }

  /** Menus pass the clicked file and all selected files. */
  async createAbout(argument: unknown, selected: unknown): Promise<void> {
    const clicked = argument instanceof vscode.Uri ? argument : readUri(readFields(argument), 'uri');
    const all = Array.isArray(selected) ? selected.filter((each) => each instanceof vscode.Uri) : [];
    const file = clicked ?? vscode.window.activeTextEditor?.document.uri;
    await this.#createAbout(all.length > 0 ? all : file ? [file] : []);
  }

  /** The new chat begins with links to the files, which are sent with its first question. */
  async #createAbout(files: readonly vscode.Uri[]): Promise<void> {
    const [first] = files;
    if (!first) return;
    const document = await this.#create(vscode.workspace.getWorkspaceFolder(first)?.uri);
    if (!document || !(await attachFiles(document, files)).ok) return;
    const editor = await vscode.window.showTextDocument(document);
    await insertAtCaret(editor, () => '\n\n', { joinUndo: true });
  }

  async openSample(argument: unknown): Promise<void> {
    const { context, offerSample } = this.#deps;
    if (await openSample(context.extensionUri, readString(readFields(argument), 'name'))) offerSample();
  }

  async search(argument: unknown): Promise<void> {
    await searchChats(this.#list, this.#texts, readString(readFields(argument), 'query') ?? '');
  }

  refresh(): void {
    this.#list.refresh();
  }

  /** Acts on the focused row of the view, on a chat by address, or on the active chat. */
  async act(action: ChatAction, argument: unknown, view: SelectedChats): Promise<void> {
    const fields = readFields(argument);
    const isRow = fields['selected'] === true;
    const uri = isRow ? await focusedChat(view) : (readUri(fields, 'uri') ?? activeChat()?.uri);
    if (!uri || uri.scheme === 'untitled') return;
    // A run would have nowhere to write.
    if (action === 'delete' && this.#deps.runs.isRunning(uri)) return void tell(failed(RUNNING), { uri });
    await ACTIONS[action](uri);
  }

  async openWalkthrough(): Promise<void> {
    await vscode.commands.executeCommand('workbench.action.openWalkthrough', WALKTHROUGH, false);
  }
}

const LOOK_AGAIN_MS = 50;
const MAX_LOOKS = 20;

/** The chat in the row that has the focus. While the view is read again, VS Code does not know its rows. */
async function focusedChat(view: SelectedChats): Promise<vscode.Uri | undefined> {
  for (let looks = 0; looks < MAX_LOOKS; looks += 1) {
    const row = await focusedRow(view);
    if (row) return row.kind === 'chat' ? row.uri : undefined;
    await delay(LOOK_AGAIN_MS);
  }
  return undefined;
}

/** The API knows only the selection, and the arrow keys move only the focus. So the focused row is selected or not for a moment. */
async function focusedRow(view: SelectedChats): Promise<ChatNode | undefined> {
  const before = view.selection;
  await vscode.commands.executeCommand('list.toggleSelection');
  const after = view.selection;
  await vscode.commands.executeCommand('list.toggleSelection');
  return after.find((row) => !before.includes(row)) ?? before.find((row) => !after.includes(row));
}

function quoteSelection(): string | undefined {
  const editor = vscode.window.activeTextEditor;
  if (!editor || editor.selection.isEmpty || editor.document.uri.path.endsWith('.chat.md')) return undefined;
  const { document, selection } = editor;
  const { first, last } = linesOf(selection);
  return quoteLines({
    file: vscode.workspace.asRelativePath(document.uri),
    firstLine: first,
    lastLine: last,
    language: document.languageId,
    text: document.getText(selection),
  });
}

/** Asks first. The assets stay, because other chats may link to them. */
async function deleteChat(uri: vscode.Uri): Promise<void> {
  const question = vscode.l10n.t('Move “{0}” to the trash?', chatName(uri));
  const detail = vscode.l10n.t(
    'Its assets in cmdassets/ are kept. “Clean Up Assets” finds assets that no chat uses.',
  );
  if (!(await confirm(question, detail, vscode.l10n.t('Move to Trash')))) return;
  const again = vscode.l10n.t('“{0}” could not be moved to the trash. Delete it permanently?', chatName(uri));
  const { failed, reason, isDeclined } = await moveToTrash([uri], () =>
    confirm(again, '', vscode.l10n.t('Delete')),
  );
  if (isDeclined) return;
  if (failed.length > 0) throw new Error(reason);
  await closeTabs(uri);
}

/** Through a workspace edit, so that open tabs follow. */
async function renameChat(uri: vscode.Uri): Promise<void> {
  const stem = await vscode.window.showInputBox({
    title: vscode.l10n.t('Rename Chat'),
    prompt: vscode.l10n.t('The file name without .chat.md'),
    value: chatName(uri),
    validateInput: (value) => problemOfName(uri, value.trim()),
  });
  const name = chatStem(stem?.trim() ?? '');
  if (!name || name === chatName(uri)) return;
  const edit = new vscode.WorkspaceEdit();
  edit.renameFile(uri, siblingOf(uri, name), { overwrite: false });
  if (await vscode.workspace.applyEdit(edit)) return;
  showProblem(vscode.l10n.t('The chat was not renamed. A chat named “{0}” already exists.', name));
}

const MAX_NAME_BYTES = 255;

async function problemOfName(uri: vscode.Uri, value: string): Promise<string | undefined> {
  const { t } = vscode.l10n;
  if (!/^[^\\/:*?"<>|\p{Cc}]+$/u.test(value) || /^\.+$/.test(value))
    return t('This is not a valid file name.');
  const name = chatStem(value);
  const target = siblingOf(uri, name);
  if (Buffer.byteLength(basename(target.path)) > MAX_NAME_BYTES) return t('This file name is too long.');
  // Where case makes no difference, a name that differs only in case exists, too.
  const isOther = name.toLowerCase() !== chatName(uri).toLowerCase();
  return isOther && (await exists(target)) ? t('A chat named “{0}” already exists.', name) : undefined;
}

function siblingOf(uri: vscode.Uri, name: string): vscode.Uri {
  return vscode.Uri.joinPath(uri, '..', `${name}.chat.md`);
}

/** The name is that of the file in samples/ and of the new chat. */
type Sample = readonly [name: string, icon: string, title: string, about: string];

/** They need no API key, no network and only the bundled server. */
function allSamples(): readonly Sample[] {
  const { t } = vscode.l10n;
  return [
    ['tour', 'rocket', t('A First Tool'), t('One call that returns text, an image, audio and a PDF')],
    [
      'hello',
      'comment-discussion',
      t('A First Conversation'),
      t('A script that needs no key and calls tools like a model'),
    ],
    ['images', 'file-media', t('Images'), t('PNG, JPEG, GIF and WebP, each from its own tool')],
    ['audio', 'unmute', t('Audio'), t('A chord as WAV and a jingle as MP3')],
    ['documents', 'file-pdf', t('Documents'), t('A PDF, a ZIP, notes in Markdown and a link')],
    ['data', 'json', t('Structured Data'), t('Results as data, and arguments of all types')],
    [
      'mixed',
      'list-ordered',
      t('Text and Images in Order'),
      t('Blocks stay in the order in which the tool returned them'),
    ],
    [
      'trouble',
      'warning',
      t('When Things Go Wrong'),
      t('A tool that fails, a slow tool, and a tool that returns misleading text'),
    ],
  ];
}

async function openSample(extension: vscode.Uri, name: string | undefined): Promise<boolean> {
  const samples = allSamples();
  const names = samples.map(([stem]) => stem);
  if (name !== undefined && !names.includes(name))
    throw new TypeError(vscode.l10n.t('There is no sample “{0}”. Samples: {1}.', name, names.join(', ')));
  const stem = name ?? (await pickSample(samples));
  if (stem === undefined) return false;
  const text = await readText(vscode.Uri.joinPath(extension, 'samples', `${stem}.chat.md`));
  return (await placeChat({ stem, text })) !== undefined;
}

async function pickSample(samples: readonly Sample[]): Promise<string | undefined> {
  const rows = samples.map(([name, icon, title, detail]) => ({
    label: `$(${icon}) ${title}`,
    detail,
    name,
  }));
  const row = await vscode.window.showQuickPick(rows, {
    title: vscode.l10n.t('Open Sample Chat'),
    placeHolder: vscode.l10n.t('Opens a copy as a new chat'),
    matchOnDetail: true,
  });
  return row?.name;
}
