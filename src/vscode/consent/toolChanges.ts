import * as vscode from 'vscode';
import { renderToolName } from '../../chat/format/callInfo.ts';
import type { ToolInfo } from '../../ports/tools.ts';
import { type AllowedTool, renderDefinition } from './allowedTool.ts';

export const TOOL_SCHEME = 'filechat-tool';

/** Read-only documents with the definitions of changed tools. */
export class ToolChanges implements vscode.TextDocumentContentProvider {
  /** By address. Stays small: only what the user has opened. */
  readonly #texts = new Map<string, string>();

  provideTextDocumentContent(uri: vscode.Uri): string {
    return this.#texts.get(uri.toString()) ?? '';
  }

  register(): vscode.Disposable {
    return vscode.workspace.registerTextDocumentContentProvider(TOOL_SCHEME, this);
  }

  async show(tool: ToolInfo, before: AllowedTool): Promise<void> {
    const name = renderToolName(tool);
    const unknown = vscode.l10n.t('The earlier definition was not saved.');
    const was = this.#add(`${name} ${before.at}.txt`, before.definition ?? unknown);
    const is = this.#add(`${name} ${new Date().toISOString()}.txt`, renderDefinition(tool));
    const title = vscode.l10n.t('{0}: Allowed {1} ↔ Now', name, before.at.slice(0, 10));
    await vscode.commands.executeCommand('vscode.diff', was, is, title, { preview: true });
  }

  #add(name: string, text: string): vscode.Uri {
    const uri = vscode.Uri.from({ scheme: TOOL_SCHEME, path: `/${name.replaceAll('/', '-')}` });
    this.#texts.set(uri.toString(), text);
    return uri;
  }
}
