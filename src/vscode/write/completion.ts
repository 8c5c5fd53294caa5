import * as vscode from 'vscode';
import { CHAT_FILES } from '../run/lenses.ts';
import type { SurfaceParts } from '../surface.ts';
import { ArgumentFixes, ArgumentHover } from './argumentFixes.ts';
import { ToolHelp } from './argumentHelp.ts';
import { ArgumentProblems } from './argumentProblems.ts';
import { WorkspaceFiles } from './files.ts';
import { FolderNames } from './folderNames.ts';
import { ChatCompletion, TRIGGERS } from './offer.ts';
import { watchSettings } from './settings.ts';

export type CompletionParts = Pick<SurfaceParts, 'known' | 'models' | 'rows' | 'servers'>;

/** What can be written at the cursor. */
export function registerCompletion(parts: CompletionParts): vscode.Disposable {
  const help = new ToolHelp(parts.known);
  const files = new WorkspaceFiles();
  const assets = new FolderNames('cmdassets');
  const completion = new ChatCompletion({ ...parts, help, files, assets });
  return vscode.Disposable.from(
    files,
    assets,
    new ArgumentProblems(help, parts.servers),
    watchSettings(),
    vscode.languages.registerCompletionItemProvider(CHAT_FILES, completion, ...TRIGGERS),
    vscode.languages.registerHoverProvider(CHAT_FILES, new ArgumentHover(help)),
    vscode.languages.registerCodeActionsProvider(CHAT_FILES, new ArgumentFixes(help), {
      providedCodeActionKinds: [vscode.CodeActionKind.QuickFix],
    }),
  );
}
