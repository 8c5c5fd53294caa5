import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { acquireLock } from '../assets/chatLock.ts';
import { FolderAssets } from '../assets/store.ts';
import { retrySaves } from '../loop/retrySaves.ts';
import type { RunOutcome } from '../ports/document.ts';
import type { CliContext } from './commandLine.ts';
import { FileDocument } from './fileDocument.ts';

/** The assets of a chat; what cannot be saved beside it is kept in the user's state folder. */
export function assetsBeside(chat: string): FolderAssets {
  return new FolderAssets({ folder: dirname(chat), recovery: join(stateFolder(), 'recovered') });
}

/** The user's folder for what Filechat keeps between runs. */
export function stateFolder({ env, platform } = process): string {
  const named = platform === 'win32' ? env['LOCALAPPDATA'] : env['XDG_STATE_HOME'];
  return join(named || join(homedir(), '.local', 'state'), 'filechat');
}

/** Runs work on a chat that no other process may run meanwhile. */
export async function withLock<T>(document: FileDocument, chat: string, work: () => Promise<T>): Promise<T> {
  const lock = await acquireLock(document.path);
  if ('holder' in lock)
    throw new Error(
      `${chat} is running already: ${lock.holder}. Wait until it has finished, or stop it there.`,
    );
  try {
    return await work();
  } finally {
    await lock.release();
  }
}

/** Resolves to the exit status. */
export async function retry(chat: string, context: CliContext): Promise<0 | 1> {
  const document = await FileDocument.open(chat);
  return withLock(document, chat, async () =>
    report(await retrySaves(document, assetsBeside(document.path)), context),
  );
}

/** Prints the files that were saved, or why it failed. Returns the exit status. */
export function report({ ok, error, assets }: RunOutcome, { out, err }: CliContext): 0 | 1 {
  for (const path of assets) out(path);
  if (!ok) err(error ?? 'The command failed.');
  return ok ? 0 : 1;
}
