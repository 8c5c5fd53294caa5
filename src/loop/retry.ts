import { messageOf } from '../base/errors.ts';
import type { ChatDocument, RunOutcome } from '../ports/document.ts';
import type { RecoverableAssets } from '../ports/results.ts';
import { findUnsaved, linkSaved } from '../result/unsaved.ts';
import { EDIT_FAILED, failed } from './document.ts';

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
