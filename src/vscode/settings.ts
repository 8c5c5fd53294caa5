import * as vscode from 'vscode';
import type { FileLimits } from '../assets/chatFiles.ts';
import { isObject } from '../base/json.ts';
import { readSetting, type SettingName, type SettingValue } from '../base/settings.ts';
import { readToolSettings, type ToolSettings } from '../mcp/config/toolSettings.ts';
import type { ResultLimits } from '../mcpClient.ts';

/** Read at every use, so changes apply at once. */
function setting<N extends SettingName>(name: N): SettingValue<N> {
  return readSetting(name, vscode.workspace.getConfiguration('filechat').get(name));
}

/** Settings that start processes or loosen approval: the workspace's value is ignored. */
function userSetting<N extends SettingName>(name: N): SettingValue<N> {
  return readSetting(name, vscode.workspace.getConfiguration('filechat').inspect(name)?.globalValue);
}

export const timeoutMs = () => setting('timeoutSeconds') * 1000;
export const maxParallelCalls = () => userSetting('maxParallelCalls');
export const autoSave = () => setting('autoSave');
export const nameChats = () => setting('nameChats');
export const approve = () => userSetting('approve');
export const userModels = () => userSetting('models');
export const userServers = () => userSetting('mcpServers');
export const defaultModel = () => userSetting('defaultModel').trim() || undefined;
export const maxSteps = () => userSetting('maxSteps');
export const reviewResults = () => userSetting('reviewResults');
export const sendImages = () => userSetting('results.sendImagesToModel');
export const isAudited = () => userSetting('auditLog');
/** Patterns such as `charts.*`. */
export const disabledTools = () => userSetting('disabledTools');
/** Name patterns of VS Code's own tools that may be used. */
export const editorTools = () => userSetting('editorTools');
/** Whether the servers of VS Code's profile are used. */
export const usesEditorServers = () => userSetting('editorServers');
export const offersBuiltInTools = () => userSetting('builtInTools');
export const showsApps = () => userSetting('apps');

export function resultLimits(): ResultLimits & FileLimits {
  const name = 'results.maxAssetBytes';
  return {
    maxInlineChars: setting('results.maxInlineChars'),
    // A workspace can lower this limit but never raise it.
    maxAssetBytes: Math.min(userSetting(name), setting(name)),
    allowedMimeTypes: userSetting('results.allowedMimeTypes'),
  };
}

/** The address at which authorization servers can read Filechat's client metadata, if any. */
export function clientMetadata(): { readonly clientMetadataUrl?: string } {
  const url = userSetting('oauth.clientMetadataUrl').trim();
  return url === '' ? {} : { clientMetadataUrl: url };
}

export async function writeUserServer(name: string, entry: unknown): Promise<void> {
  const servers = userServers();
  if (!isObject(servers)) {
    throw new Error(
      vscode.l10n.t('The setting filechat.mcpServers is not an object. Fix it first, then add the server.'),
    );
  }
  await writeUserSetting('mcpServers', { ...servers, [name]: entry });
}

export async function writeUserSetting(name: SettingName, value: unknown): Promise<void> {
  const settings = vscode.workspace.getConfiguration('filechat');
  await settings.update(name, value, vscode.ConfigurationTarget.Global);
}

/** Which fields of tool results hold bytes, and the module that transforms results first. */
export function toolSettings(): Promise<ToolSettings> {
  const fields = userSetting('results.fields');
  return readToolSettings({ fields, transformer: userSetting('results.transformer') });
}
