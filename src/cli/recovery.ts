import { homedir } from 'node:os';
import { dirname, join } from 'node:path';
import { acquireLock } from '../assets/chatLock.ts';
import { FolderAssets } from '../assets/store.ts';
import { retrySaves } from '../loop/document.ts';
import { FileDocument } from './fileDocument.ts';
import type { CliContext } from './usage.ts';

/** The assets of a chat; what cannot be saved beside it is kept in the user's state folder. */
export function assetsBeside(chat: string): FolderAssets {
  return new FolderAssets({ folder: dirname(chat), recovery: join(stateFolder(), 'recovered') });
}

/** The user's folder for what Filechat keeps between runs. */
export function stateFolder({ env, platform } = process): string {
  const named = platform === 'win32' ? env['LOCALAPPDATA'] : env['XDG_STATE_HOME'];
  return join(named || join(homedir(), '.local', 'state'), 'filechat');
}

export function alreadyRunning(chat: string, holder: string): string {
  return `${chat} is running already: ${holder}. Wait until it has finished, or stop it there.`;
}

/** Resolves to the exit status. */
export async function retry(chat: string, { out, err }: CliContext): Promise<0 | 1> {
  const document = await FileDocument.open(chat);
  const lock = await acquireLock(document.path);
  if ('holder' in lock) throw new Error(alreadyRunning(chat, lock.holder));
  try {
    const { ok, error, assets } = await retrySaves(document, assetsBeside(document.path));
    for (const path of assets) out(path);
    if (!ok) err(error ?? 'The files could not be saved.');
    return ok ? 0 : 1;
  } finally {
    await lock.release();
  }
}
