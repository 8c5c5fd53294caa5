import { messageOf } from '../base/errors.ts';
import { parseChat } from '../chat/format/parse.ts';
import { RunError } from '../model/failures.ts';
import type { ChatDocument, Log, RunOutcome } from '../ports/document.ts';
import type { RecoverableAssets } from '../ports/results.ts';
import { findUnsaved, linkSaved } from '../result/unsaved.ts';

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

export const NOTHING_UNSAVED = 'All files in this chat are saved.';

/** Saves the files of which the chat says that they could not be saved, and links to them. */
export async function retrySaves(document: ChatDocument, assets: RecoverableAssets): Promise<RunOutcome> {
  const unsaved = findUnsaved(document.text());
  if (unsaved.length === 0) return failed(NOTHING_UNSAVED);
  const saved: string[] = [];
  const errors: string[] = [];
  for (const { name } of unsaved) {
    const link = async (path: string) => {
      if (!(await document.edit((text) => linkSaved(text, name, path)))) throw new Error(EDIT_FAILED);
      saved.push(path);
    };
    await assets.restore(name, link).catch((error: unknown) => errors.push(messageOf(error)));
  }
  if (errors.length > 0) return { ok: false, error: errors.join('\n'), assets: saved };
  return { ok: true, assets: saved };
}
