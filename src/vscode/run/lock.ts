import type * as vscode from 'vscode';
import { acquireLock, acquireLockOn, type ChatLock, type ChatLocked } from '../../assets/chatLock.ts';

const WHO = 'another window of VS Code';

/** One run a chat at a time, across windows and the command line. */
export async function lockChat(uri: vscode.Uri): Promise<ChatLock | ChatLocked> {
  // A chat that is not saved is in this window only.
  if (uri.scheme === 'untitled') return { release: async () => undefined };
  return uri.scheme === 'file'
    ? acquireLock(uri.fsPath, { who: WHO })
    : acquireLockOn(uri.toString(), { who: WHO });
}
