import * as vscode from 'vscode';
import { type CompletionPlace, completionPlace } from '../../chat/completion/place.ts';
import { CHAT_FILES, chatOf, isChat } from '../chat/chatFiles.ts';

import { argumentFixes, argumentHover, ToolHelp, watchArguments } from './argumentHelp.ts';
import { argumentItems } from './arguments.ts';
import { fileItems } from './files.ts';
import { mentionItems, toolNameItems } from './mentions.ts';
import type { CompletionDeps, CompletionRequest, ItemDeps, RequestAt } from './request.ts';
import { settingKeyItems, settingValueItems, watchSettings } from './settings.ts';
import { commandItems, roleItems } from './words.ts';
import { WorkspaceFiles } from './workspaceFiles.ts';

type Kind = CompletionPlace['kind'];

/** The places at which each trigger character opens completions. */
const TRIGGERS: Readonly<Record<string, readonly Kind[]>> = {
  '#': ['file'],
  '@': ['mention'],
  '/': ['command', 'file', 'mention'],
  '%': ['role'],
  '.': ['file', 'mention', 'tool'],
  '-': ['file', 'mention', 'command'],
  '"': ['arguments', 'value'],
  ':': ['arguments', 'value'],
  ' ': ['arguments', 'value', 'role', 'tool'],
};

export function registerCompletion(deps: CompletionDeps): vscode.Disposable {
  const help = new ToolHelp(deps.known);
  const files = new WorkspaceFiles();
  const completion = completionProvider({ ...deps, help, files });
  return vscode.Disposable.from(
    files,
    watchArguments(help, deps.servers),
    watchSettings(),
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
