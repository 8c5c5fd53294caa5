import { pathToFileURL } from 'node:url';
import * as vscode from 'vscode';
import type { FileLimits } from '../assets/chatFiles.ts';
import { isObject } from '../base/json.ts';
import { DEFAULT_LIMITS, type ResultLimits, type ToolSettings } from '../mcpClient.ts';
import type { Approval } from '../ports/tools.ts';
import { readFieldRules } from '../result/findBytes.ts';
import type { Transform } from '../result/process.ts';

/** Read at every use, so changes apply at once. */
function setting<T>(name: string, fallback: T): T {
  return vscode.workspace.getConfiguration('filechat').get<T>(name, fallback);
}

/** Settings that start processes or loosen approval: the workspace's value is ignored. */
function userSetting<T>(name: string, fallback: T): T {
  return vscode.workspace.getConfiguration('filechat').inspect<T>(name)?.globalValue ?? fallback;
}

/** Settings are written by hand: entries that are not strings are ignored. */
function userStrings(name: string, fallback: readonly string[] = []): readonly string[] {
  const value = userSetting<unknown>(name, fallback);
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

export const timeoutMs = () => setting('timeoutSeconds', 60) * 1000;
export const autoSave = () => setting('autoSave', true);
export const approve = () => userSetting<Approval>('approve', 'ask');
export const userModels = () => userSetting<unknown>('models', {});
export const userServers = () => userSetting<unknown>('mcpServers', {});
export const defaultModel = () => userSetting('defaultModel', '').trim() || undefined;
export const maxSteps = () => userSetting('maxSteps', 25);
export const reviewResults = () => userSetting('reviewResults', false);
export const sendImages = () => userSetting<'auto' | 'always' | 'never'>('results.sendImagesToModel', 'auto');
export const isAudited = () => userSetting<unknown>('auditLog', false) === true;
/** Patterns such as `charts.*`. */
export const disabledTools = () => userStrings('disabledTools');
/** Name patterns of VS Code's own tools that may be used. */
export const editorTools = () => userStrings('editorTools');
export const offersBuiltInTools = () => userSetting<unknown>('builtInTools', true) !== false;
export const showsApps = () => userSetting('apps', true);

export function resultLimits(): ResultLimits & FileLimits {
  const { maxInlineChars, maxAssetBytes } = DEFAULT_LIMITS;
  const name = 'results.maxAssetBytes';
  return {
    maxInlineChars: setting('results.maxInlineChars', maxInlineChars),
    // A workspace can lower this limit but never raise it.
    maxAssetBytes: Math.min(userSetting(name, maxAssetBytes), setting(name, maxAssetBytes)),
    allowedMimeTypes: userStrings('results.allowedMimeTypes', ['*/*']),
  };
}

/** The address at which authorization servers can read Filechat's client metadata, if any. */
export function clientMetadata(): { readonly clientMetadataUrl?: string } {
  const url = userSetting('oauth.clientMetadataUrl', '').trim();
  return url === '' ? {} : { clientMetadataUrl: url };
}

export async function writeDefaultModel(name: string): Promise<void> {
  await writeUserSetting('defaultModel', name);
}

export async function writeUserServer(name: string, entry: unknown): Promise<void> {
  const servers = userServers();
  if (!isObject(servers)) {
    throw new Error(
      vscode.l10n.t(
        'The setting filechat.mcpServers is not an object. Put it right first, then add the server.',
      ),
    );
  }
  await writeUserSetting('mcpServers', { ...servers, [name]: entry });
}

async function writeUserSetting(name: string, value: unknown): Promise<void> {
  const settings = vscode.workspace.getConfiguration('filechat');
  await settings.update(name, value, vscode.ConfigurationTarget.Global);
}

/** Which fields of tool results hold bytes, and the module that transforms results first. */
export async function toolSettings(): Promise<ToolSettings> {
  const fields = userSetting<unknown>('results.fields', {});
  const module = userSetting<string>('results.transformer', '');
  return {
    fields: (tool) => readFieldRules(fields, tool),
    ...(module === '' ? {} : { transform: await loadTransformer(module) }),
  };
}

/** A module that cannot be loaded fails like one that throws: a visible problem, and the unchanged result. */
async function loadTransformer(path: string): Promise<Transform> {
  try {
    const loaded: { readonly default?: unknown } = await import(pathToFileURL(path).href);
    if (typeof loaded.default === 'function') return loaded.default as Transform;
    throw new Error(`The default export of ${path} is not a function`);
  } catch (error) {
    return () => Promise.reject(error);
  }
}
