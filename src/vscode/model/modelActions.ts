import * as vscode from 'vscode';
import { findChat } from '../chat/chatFiles.ts';
import { readFields, readString } from '../ui/commandArguments.ts';
import { failed, NO_CHAT, tell, UNTRUSTED } from '../ui/outcomes.ts';
import { withNotice } from '../ui/progress.ts';
import type { ModelCommands } from './commands.ts';

/** The commands about a chat's model, as the palette calls them. */
export class ModelActions {
  readonly #models: ModelCommands;

  constructor(models: ModelCommands) {
    this.#models = models;
  }

  /** For the chat, or without one for all chats that name no model. */
  async select(argument: unknown): Promise<void> {
    const fields = readFields(argument);
    const document = await findChat(fields);
    const wanted = readString(fields, 'model');
    if (document) await this.#models.select(document, wanted);
    else await this.#models.selectDefault(wanted);
  }

  async setKey(argument: unknown): Promise<void> {
    const fields = readFields(argument);
    const problem = await this.#models.setKey(await findChat(fields), readString(fields, 'model'));
    if (problem !== undefined) tell(failed(problem));
  }

  async showRequest(argument: unknown): Promise<void> {
    const document = await findChat(readFields(argument));
    if (!document) return void tell(failed(NO_CHAT));
    if (!vscode.workspace.isTrusted) return void tell(failed(UNTRUSTED));
    try {
      await withNotice(vscode.l10n.t('Preparing the request'), (signal) =>
        this.#models.showRequest(document, signal),
      );
    } catch (error) {
      tell(failed(error instanceof Error ? error.message : String(error)));
    }
  }
}
