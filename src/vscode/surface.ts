import * as vscode from 'vscode';
import type { RunOutcome, ServerHost } from '../ports.ts';
import { Chats } from './chats/chats.ts';
import { Gallery } from './gallery/gallery.ts';
import type { ModelCommands } from './model/commands.ts';
import type { EditorModels } from './model/models.ts';
import { registerAssetLinks } from './read/assetLinks.ts';
import { registerHovers } from './read/hovers.ts';
import { Sending } from './read/sending.ts';
import { Turns } from './read/turns.ts';
import type { Conversations } from './run/conversations.ts';
import type { Runs } from './run/runs.ts';
import { TurnCommands } from './run/turnCommands.ts';
import { KnownServers } from './servers/known.ts';
import type { ServerRows } from './servers/rows.ts';
import type { BuiltIns } from './tools/builtIns.ts';
import { registerCompletion } from './write/completion.ts';

/** What the parts of the surface are made of. */
export interface SurfaceParts {
  readonly context: vscode.ExtensionContext;
  readonly log: vscode.LogOutputChannel;
  readonly servers: ServerHost;
  readonly builtIns: BuiltIns;
  /** What servers offer, without starting any. */
  readonly known: KnownServers;
  /** What is configured, also what nobody has started yet. */
  readonly rows: ServerRows;
  readonly models: EditorModels;
  readonly modelCommands: ModelCommands;
  readonly conversations: Conversations;
  readonly runs: Runs;
  /** Runs what the chat asks for next, as the command does. */
  readonly run: (document: vscode.TextDocument) => Promise<RunOutcome>;
  /** Makes the server that comes along usable beside the user's own. */
  readonly offerSample: () => void;
}

/** Everything that shows a chat, or helps to write one, and changes nothing by itself. */
export class Surface implements vscode.Disposable {
  readonly chats: Chats;
  readonly gallery: Gallery;
  readonly sending: Sending;
  readonly turns: TurnCommands;
  readonly #disposables: vscode.Disposable;

  constructor(given: Omit<SurfaceParts, 'known'>) {
    const known = new KnownServers(given.servers, () => given.builtIns.tools());
    const parts: SurfaceParts = { ...given, known };
    this.chats = new Chats(parts);
    this.gallery = new Gallery(parts);
    this.sending = new Sending(parts);
    this.turns = new TurnCommands(parts);
    this.#disposables = vscode.Disposable.from(
      known,
      this.chats,
      this.gallery,
      this.sending,
      new Turns(parts),
      registerCompletion(parts),
      registerHovers(parts),
      registerAssetLinks(parts),
    );
  }

  dispose(): void {
    this.#disposables.dispose();
  }
}
