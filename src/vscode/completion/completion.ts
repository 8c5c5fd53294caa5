import * as vscode from 'vscode';
import { type CompletionPlace, completionPlace } from '../../chat/completion.ts';
import { type Role, renderMarker } from '../../chat/format/chat.ts';
import { CHAT_FILES, chatOf, isChat } from '../chat/chatFiles.ts';
import { argumentFixes, argumentHover, toolHelp, watchArguments } from './argumentHelp.ts';
import { argumentItems } from './argumentItems.ts';
import { fileItems } from './fileItems.ts';
import { mentionItems, toolNameItems } from './mentions.ts';
import {
  type CompletionRequest,
  createItem,
  type ItemDeps,
  type RequestAt,
  sortKey,
  WorkspaceFiles,
} from './request.ts';
import { hasValues, settingKeyItems, settingValueItems } from './settingItems.ts';
import { EditorSnapshots } from './snapshots.ts';

type Kind = CompletionPlace['kind'];

/**
 * The places at which each trigger character opens completions. Space is not a trigger character: the editor requests the
 * list again after each one, and until the response arrives, Enter accepts a row of the previous list.
 */
const TRIGGERS: Readonly<Record<string, readonly Kind[]>> = {
  '#': ['file'],
  '@': ['mention'],
  '/': ['command', 'file', 'mention'],
  '%': ['role'],
  '.': ['file', 'mention', 'tool'],
  '-': ['file', 'mention', 'command'],
  '"': ['arguments', 'value'],
  ':': ['arguments', 'value', 'file'],
};

export function registerCompletion(deps: Omit<ItemDeps, 'help' | 'files' | 'snapshots'>): vscode.Disposable {
  const help = toolHelp(deps.known);
  const files = new WorkspaceFiles();
  const snapshots = new EditorSnapshots();
  const completion = completionProvider({ ...deps, help, files, snapshots });
  return vscode.Disposable.from(
    files,
    snapshots,
    watchArguments(help, deps.servers),
    watchTyping(),
    vscode.languages.registerCompletionItemProvider(CHAT_FILES, completion, ...Object.keys(TRIGGERS)),
    vscode.languages.registerHoverProvider(CHAT_FILES, argumentHover(help)),
    vscode.languages.registerCodeActionsProvider(CHAT_FILES, argumentFixes(help), {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
  );
}

function completionProvider(deps: ItemDeps): vscode.CompletionItemProvider {
  return {
    async provideCompletionItems(document, position, token, { triggerCharacter }) {
      if (!isChat(document.uri)) return undefined;
      const place = completionPlace(document.getText(), chatOf(document), document.offsetAt(position));
      if (!place) return undefined;
      if (triggerCharacter !== undefined && !TRIGGERS[triggerCharacter]?.includes(place.kind))
        return undefined;
      const range = new vscode.Range(document.positionAt(place.start), position);
      const itemsAt = ITEMS[place.kind] as (request: CompletionRequest) => Items | Promise<Items>;
      const found = await itemsAt({ document, place, range, deps });
      const list = Array.isArray(found) ? new vscode.CompletionList(found) : found;
      return token.isCancellationRequested || list.items.length === 0 ? undefined : list;
    },
  };
}

/** The lines, up to the typed character, after which completions are opened: a setting, an item of a list, a tool. */
const OPENING: readonly (readonly [line: RegExp, kind: Kind])[] = [
  [/^[a-z]$/i, 'key'],
  // Also after the colon has opened them: a list of keys that is still shown ends that request when the space is typed.
  [/^\w+[ \t]*:(?: |.*[[,])$/, 'value'],
  [/^(?:`{3,}|~{3,})tool_call $/, 'tool'],
];

/** Opens completions at places that no trigger character identifies. In Markdown, letters do not open them. */
function watchTyping(): vscode.Disposable {
  return vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
    const [change, ...others] = contentChanges;
    if (change?.text.length !== 1 || others.length > 0 || !change.range.isEmpty || !isChat(document.uri))
      return;
    const { line, character } = change.range.start;
    const before = document.lineAt(line).text.slice(0, character + 1);
    const kind = OPENING.find(([opening]) => opening.test(before))?.[1];
    if (!kind || vscode.window.activeTextEditor?.document !== document || !suggests(document)) return;
    const place = completionPlace(document.getText(), chatOf(document), change.rangeOffset + 1);
    // Where there are none, this command would say so.
    const hasItems = place?.kind === kind && (place.kind !== 'value' || hasValues(place.key));
    if (hasItems) void vscode.commands.executeCommand('editor.action.triggerSuggest');
  });
}

function suggests(document: vscode.TextDocument): boolean {
  return vscode.workspace.getConfiguration('editor', document).get('suggestOnTriggerCharacters', true);
}

type Items = vscode.CompletionItem[] | vscode.CompletionList;

const ITEMS: { readonly [K in Kind]: (request: RequestAt<K>) => Items | Promise<Items> } = {
  file: fileItems,
  mention: mentionItems,
  tool: toolNameItems,
  command: commandItems,
  role: roleItems,
  key: settingKeyItems,
  value: settingValueItems,
  arguments: argumentItems,
};

const { t } = vscode.l10n;

const SLASH_COMMANDS: readonly (readonly [word: string, command: string, about: string])[] = [
  ['run', 'run', t('Run the next step of the chat')],
  ['stop', 'stop', t('Stop the run')],
  ['resume', 'resume', t('Resume an interrupted reply')],
  ['regenerate', 'regenerate', t('Regenerate the last reply')],
  ['model', 'selectModel', t('Choose the model of this chat')],
  ['attach', 'attachFile', t('Attach files')],
  ['fetch', 'attachAddress', t('Fetch a web address and attach it')],
  ['tool', 'callTool', t('Call a tool')],
  ['prompt', 'insertPrompt', t('Insert a prompt from a server')],
  ['resource', 'readResource', t('Read a resource from a server')],
  ['server', 'startServer', t('Start a server')],
  ['assets', 'showAssets', t('Show the files of this chat')],
  ['sent', 'showBreakdown', t('Show what will be sent')],
  ['fork', 'fork', t('Continue from here in a new chat')],
  ['compact', 'compact', t('Replace older turns with a summary')],
  ['new', 'newChat', t('Create a new chat')],
  ['search', 'searchChats', t('Search all chats')],
];

/** The argument with the chat's URI, if it is not `uri`. */
const CHAT_FIELDS: Readonly<Record<string, string>> = { readResource: 'into' };
const WITHOUT_CHAT: ReadonlySet<string> = new Set(['newChat', 'searchChats', 'startServer']);

function commandItems({ document, range }: RequestAt<'command'>): vscode.CompletionItem[] {
  return SLASH_COMMANDS.map(([word, name, about], at) => {
    const chat = { [CHAT_FIELDS[name] ?? 'uri']: document.uri };
    return createItem({ label: `/${word}`, description: about }, vscode.CompletionItemKind.Event, {
      insertText: '',
      filterText: `/${word}`,
      sortText: sortKey(at),
      range,
      command: {
        command: `filechat.${name}`,
        title: about,
        arguments: WITHOUT_CHAT.has(name) ? [] : [chat],
      },
    });
  });
}

const ROLES: readonly (readonly [Role, string])[] = [
  ['user', t('Your message')],
  ['assistant', t('Reply of the model. Enter requests it.')],
  ['system', t('Instructions for the model')],
];

/**
 * Markers of turns. The assistant's has no line break, because typing that one starts the run. Enter after a typed role
 * must never accept another one: a list that opened at `# %%` closes at the space, because the editor requests lists again
 * when a word begins and accepts rows of the old list until then. Once the role is complete, nothing matches.
 */
function roleItems({ document, range, place }: RequestAt<'role'>): vscode.CompletionItem[] {
  const isBare = document.getText(range).endsWith('%');
  return ROLES.flatMap(([role, detail], at) => {
    if (place.typed.toLowerCase() === role) return [];
    const marker = renderMarker(role);
    const fields = {
      insertText: role === 'assistant' ? marker : `${marker}\n`,
      detail,
      range,
      filterText: (isBare ? marker.replace('%% ', '%%') : marker).slice(0, -1),
      sortText: sortKey(at),
    };
    return [createItem(marker, vscode.CompletionItemKind.Keyword, fields)];
  });
}
