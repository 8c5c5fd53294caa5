import { messageOf } from '../base/errors.ts';
import { parseChat } from '../chat/format/parse.ts';
import { RunError } from '../model/describeFailure.ts';
import type { ChatDocument, Log, RunOutcome } from '../ports/document.ts';

/** The same document, except that failed edits and saves are logged and resolve to false instead of rejecting. */
export function logFailures(document: ChatDocument, log: Log): ChatDocument {
  const attempt = async (verb: string, work: () => Promise<boolean>) => {
    try {
      return await work();
    } catch (error) {
      log.error(`Could not ${verb} the chat: ${messageOf(error)}`);
      return false;
    }
  };
  return {
    text: () => document.text(),
    edit: (compute, options) => attempt('edit', () => document.edit(compute, options)),
    save: () => attempt('save', () => document.save()),
    onDidChange: (listener) => document.onDidChange(listener),
  };
}

export function explainFailedEdit(document: ChatDocument): string {
  const { endsInFence } = parseChat(document.text());
  return endsInFence ? 'A code fence at the end of the chat is never closed. Close it first.' : EDIT_FAILED;
}

export const EDIT_FAILED = 'Could not edit the chat. Is it read-only or closed?';
export const STOPPED: RunOutcome = { ok: false, error: 'Stopped.', cancelled: true, assets: [] };

export function failed(error: string): RunOutcome {
  return { ok: false, error, assets: [] };
}

export function failedBy(error: unknown): RunOutcome {
  const failure = error instanceof RunError ? error.failure : undefined;
  return { ...failed(messageOf(error)), ...(failure && { failure }) };
}
