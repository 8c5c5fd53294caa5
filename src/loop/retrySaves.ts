import { messageOf } from '../base/errors.ts';
import type { ChatDocument, RunOutcome } from '../ports/document.ts';
import type { RecoverableAssets } from '../ports/results.ts';
import { findUnsaved, linkSaved } from '../result/unsaved.ts';
import { EDIT_FAILED, failed } from './document.ts';

/** Saves the files that the chat reports as not saved, and links to them. */
export async function retrySaves(document: ChatDocument, assets: RecoverableAssets): Promise<RunOutcome> {
  const unsaved = findUnsaved(document.text());
  if (unsaved.length === 0) return failed(describeOthers(await assets.copies()));
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

const MAX_NAMED = 5;

/** A copy can also be of another chat, of a line that the user has deleted, or of a run that was killed. */
function describeOthers({ folder, names }: Awaited<ReturnType<RecoverableAssets['copies']>>): string {
  if (names.length === 0) return NO_FILES;
  const more = names.length - MAX_NAMED;
  const listed = [...names.slice(0, MAX_NAMED), ...(more > 0 ? [`${more} more`] : [])].join(', ');
  return `${NO_FILES} The recovery folder ${folder} has files that it does not name: ${listed}.`;
}

const NO_FILES = 'This chat has no files to retry.';
