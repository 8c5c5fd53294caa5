import * as vscode from 'vscode';
import type { CompletionPlace } from '../../chat/completion/place.ts';
import type { ServerHost } from '../../ports/servers.ts';
import type { EditorModels } from '../model/models.ts';
import type { KnownServers } from '../servers/known.ts';
import type { ServerRows } from '../servers/rows.ts';
import type { ToolHelp } from './argumentHelp.ts';
import type { WorkspaceFiles } from './workspaceFiles.ts';

export interface CompletionDeps {
  readonly servers: ServerHost;
  /** The tools, prompts and resources of running servers. */
  readonly known: KnownServers;
  /** All configured servers. */
  readonly rows: ServerRows;
  readonly models: EditorModels;
}

export interface ItemDeps extends CompletionDeps {
  readonly help: ToolHelp;
  readonly files: WorkspaceFiles;
}

export interface CompletionRequest<P extends CompletionPlace = CompletionPlace> {
  readonly document: vscode.TextDocument;
  readonly place: P;
  /** From the start of the place to the cursor. */
  readonly range: vscode.Range;
  readonly deps: ItemDeps;
}

export type RequestAt<K extends CompletionPlace['kind']> = CompletionRequest<
  Extract<CompletionPlace, { kind: K }>
>;

export function createItem(
  label: string | vscode.CompletionItemLabel,
  kind: vscode.CompletionItemKind,
  fields: Partial<vscode.CompletionItem>,
): vscode.CompletionItem {
  return Object.assign(new vscode.CompletionItem(label, kind), fields);
}

export function sortKey(at: number): string {
  return String(at).padStart(5, '0');
}
