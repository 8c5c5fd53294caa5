import { readFile } from 'node:fs/promises';
import { messageOf } from '../base/errors.ts';
import { readFailure } from '../base/fileErrors.ts';

/** Reads a file that the user has named. Rejects with the reason only; the caller names the file. */
export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`${readFailure(error) ?? messageOf(error)}.`);
  }
}
