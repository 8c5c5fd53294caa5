import * as vscode from 'vscode';
import { DEFAULT_LIMITS, type ResultLimits } from '../mcpClient.ts';

export type Approve = 'ask' | 'auto-readonly' | 'auto';

/** Read at every use, so that a change counts at once. */
function setting<T>(name: string, fallback: T): T {
  return vscode.workspace.getConfiguration('filechat').get<T>(name, fallback);
}

export function timeoutMs(): number {
  return setting('timeoutSeconds', 60) * 1000;
}

export function resultLimits(): ResultLimits {
  return {
    maxInlineChars: setting('results.maxInlineChars', DEFAULT_LIMITS.maxInlineChars),
    maxAssetBytes: setting('results.maxAssetBytes', DEFAULT_LIMITS.maxAssetBytes),
  };
}

/** What starts processes or loosens approval is the user's alone: a workspace's value is never looked at. */
function userSetting<T>(name: string, fallback: T): T {
  return vscode.workspace.getConfiguration('filechat').inspect<T>(name)?.globalValue ?? fallback;
}

export function approve(): Approve {
  return userSetting<Approve>('approve', 'ask');
}

export function userServers(): unknown {
  return userSetting<unknown>('mcpServers', {});
}
