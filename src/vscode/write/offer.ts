import type * as vscode from 'vscode';
import type { CompletionPlace } from '../../chat/completion/place.ts';
import type { ServerHost } from '../../ports/servers.ts';

import type { EditorModels } from '../model/models.ts';
import type { KnownServers } from '../servers/known.ts';
import type { ServerRows } from '../servers/rows.ts';
import type { ToolHelp } from './argumentHelp.ts';
import type { FolderNames, WorkspaceFiles } from './workspaceFiles.ts';

export interface CompletionDeps {
  readonly servers: ServerHost;
  /** What servers offer, without starting any. */
  readonly known: KnownServers;
  /** What is configured, also what nobody has started yet. */
  readonly rows: ServerRows;
  readonly models: EditorModels;
}

export interface OfferDeps extends CompletionDeps {
  readonly help: ToolHelp;
  readonly files: WorkspaceFiles;
  readonly assets: FolderNames;
}

/** Where something is to be written: what it is for, and what it takes the place of. */
export interface Offer<P extends CompletionPlace = CompletionPlace> {
  readonly document: vscode.TextDocument;
  readonly place: P;
  /** From where the place starts up to the cursor. */
  readonly range: vscode.Range;
  readonly token: vscode.CancellationToken;
  readonly deps: OfferDeps;
}

export type PlaceOf<K extends CompletionPlace['kind']> = Extract<CompletionPlace, { kind: K }>;
