import { readFile } from 'node:fs/promises';
import { findFile } from './confined.ts';
import { hasCode } from './writeFile.ts';

/** The text of `.filechat/NAME.md` in the first of the folders that has one; links out of it are not followed. */
export async function readAgentFile(name: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    try {
      return await readFile(await findFile({ folder, roots: [folder] }, `.filechat/${name}.md`), 'utf8');
    } catch (error) {
      if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error;
    }
  }
  return undefined;
}
