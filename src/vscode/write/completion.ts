import * as vscode from 'vscode';
import { type Place, placeAt } from '../../chat/completion/place.ts';
import { isChat } from '../chat/chatFiles.ts';
import { chatOf } from '../chat/openChats.ts';
import { CHAT_FILES } from '../run/lenses.ts';
import { argumentFixes, argumentHover } from './argumentFixes.ts';
import { ToolHelp } from './argumentHelp.ts';
import { watchArguments } from './argumentProblems.ts';
import { argumentItems } from './arguments.ts';
import { fileItems } from './files.ts';
import { mentionItems, toolNameItems } from './mentions.ts';
import type { CompletionDeps, Offer, OfferDeps } from './offer.ts';
import { settingKeyItems, settingValueItems, watchSettings } from './settings.ts';
import { commandItems, roleItems } from './words.ts';
import { FolderNames, WorkspaceFiles } from './workspaceFiles.ts';

type Kind = Place['kind'];

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
  const assets = new FolderNames('cmdassets');
  const completion = completionProvider({ ...deps, help, files, assets });
  return vscode.Disposable.from(
    files,
    assets,
    watchArguments(help, deps.servers),
    watchSettings(),
    vscode.languages.registerCompletionItemProvider(CHAT_FILES, completion, ...Object.keys(TRIGGERS)),
    vscode.languages.registerHoverProvider(CHAT_FILES, argumentHover(help)),
    vscode.languages.registerCodeActionsProvider(CHAT_FILES, argumentFixes(help), {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
  );
}

function completionProvider(deps: OfferDeps): vscode.CompletionItemProvider {
  return {
    async provideCompletionItems(document, position, token, { triggerCharacter }) {
      if (!isChat(document.uri)) return undefined;
      const place = placeAt(document.getText(), chatOf(document), document.offsetAt(position));
      if (!place) return undefined;
      if (triggerCharacter !== undefined && !TRIGGERS[triggerCharacter]?.includes(place.kind))
        return undefined;
      const range = new vscode.Range(document.positionAt(place.start), position);
      const list = await offer({ document, place, range, deps });
      return token.isCancellationRequested || list.items.length === 0 ? undefined : list;
    },
  };
}

/** Files are ranked by the typed text, so their list is incomplete and requested again after each letter. */
async function offer(where: Offer): Promise<vscode.CompletionList> {
  const { place } = where;
  switch (place.kind) {
    case 'file':
      return new vscode.CompletionList(await fileItems({ ...where, place }), true);
    case 'mention':
      return new vscode.CompletionList(await mentionItems({ ...where, place }));
    case 'tool':
      return new vscode.CompletionList(await toolNameItems({ ...where, place }));
    case 'command':
      return new vscode.CompletionList(commandItems({ ...where, place }));
    case 'role':
      return new vscode.CompletionList(roleItems({ ...where, place }));
    case 'key':
      return new vscode.CompletionList(settingKeyItems({ ...where, place }));
    case 'value':
      return new vscode.CompletionList(await settingValueItems({ ...where, place }));
    case 'arguments':
      return new vscode.CompletionList(await argumentItems({ ...where, place }));
  }
}
