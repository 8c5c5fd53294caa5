import { pathToFileURL } from 'node:url';
import * as vscode from 'vscode';
import type { FileLimits } from '../assets/chatFiles.ts';
import { isObject } from '../base/json.ts';
import { DEFAULT_LIMITS, type ResultLimits, type ToolSettings } from '../mcpClient.ts';
import type { Approval } from '../ports/tools.ts';
import { readFieldRules } from '../result/findBytes.ts';
import type { Transform } from '../result/process.ts';

const DEFAULT_MAX_STEPS = 25;

/** Read at every use, so changes apply at once. */
function setting<T>(name: string, fallback: T): T {
  return vscode.workspace.getConfiguration('filechat').get<T>(name, fallback);
}

export function timeoutMs(): number {
  return setting('timeoutSeconds', 60) * 1000;
}

export function resultLimits(): ResultLimits & FileLimits {
  return {
    maxInlineChars: setting('results.maxInlineChars', DEFAULT_LIMITS.maxInlineChars),
    maxAssetBytes: lowered('results.maxAssetBytes', DEFAULT_LIMITS.maxAssetBytes),
    allowedMimeTypes: userSetting<readonly string[]>('results.allowedMimeTypes', ['*/*']),
  };
}

/** Settings that start processes or loosen approval: the workspace's value is ignored. */
function userSetting<T>(name: string, fallback: T): T {
  return vscode.workspace.getConfiguration('filechat').inspect<T>(name)?.globalValue ?? fallback;
}

/** A limit that a workspace can lower but never raise. */
function lowered(name: string, fallback: number): number {
  return Math.min(userSetting(name, fallback), setting(name, fallback));
}

export function approve(): Approval {
  return userSetting<Approval>('approve', 'ask');
}

export function userModels(): unknown {
  return userSetting<unknown>('models', {});
}

export function defaultModel(): string | undefined {
  return userSetting('defaultModel', '').trim() || undefined;
}

export async function writeDefaultModel(name: string): Promise<void> {
  const settings = vscode.workspace.getConfiguration('filechat');
  await settings.update('defaultModel', name, vscode.ConfigurationTarget.Global);
}

export function maxSteps(): number {
  return userSetting('maxSteps', DEFAULT_MAX_STEPS);
}

export function reviewResults(): boolean {
  return userSetting('reviewResults', false);
}

export function sendImages(): 'auto' | 'always' | 'never' {
  return userSetting<'auto' | 'always' | 'never'>('results.sendImagesToModel', 'auto');
}

export function autoSave(): boolean {
  return setting('autoSave', true);
}

export function isAudited(): boolean {
  return userSetting<unknown>('auditLog', false) === true;
}

/** Patterns such as `charts.*`. */
export function disabledTools(): readonly string[] {
  return strings(userSetting<unknown>('disabledTools', []));
}

/** Name patterns of VS Code's own tools that may be used. */
export function editorTools(): readonly string[] {
  return strings(userSetting<unknown>('editorTools', []));
}

export function offersBuiltInTools(): boolean {
  return userSetting<unknown>('builtInTools', true) !== false;
}

/** Settings are written by hand: entries that are not strings are ignored. */
function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

export function showsApps(): boolean {
  return userSetting('apps', true);
}

/** The address at which authorization servers can read Filechat's client metadata, if any. */
export function clientMetadata(): { readonly clientMetadataUrl?: string } {
  const url = userSetting('oauth.clientMetadataUrl', '').trim();
  return url === '' ? {} : { clientMetadataUrl: url };
}

export function userServers(): unknown {
  return userSetting<unknown>('mcpServers', {});
}

/** Adds or replaces a server in the user settings. */
export async function writeUserServer(name: string, entry: unknown): Promise<void> {
  const servers = userServers();
  if (!isObject(servers)) {
    throw new Error(
      vscode.l10n.t(
        'The setting filechat.mcpServers is not an object. Put it right first, then add the server.',
      ),
    );
  }
  const settings = vscode.workspace.getConfiguration('filechat');
  await settings.update('mcpServers', { ...servers, [name]: entry }, vscode.ConfigurationTarget.Global);
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
