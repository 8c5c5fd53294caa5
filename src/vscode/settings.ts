import { pathToFileURL } from 'node:url';
import * as vscode from 'vscode';
import type { FileLimits } from '../assets/chatFiles.ts';
import { DEFAULT_LIMITS, type ResultLimits, type ToolSettings } from '../mcpClient.ts';
import type { Approval } from '../ports/tools.ts';

import { readFieldRules } from '../result/fields.ts';
import type { Transform } from '../result/process.ts';

const DEFAULT_MAX_STEPS = 25;

/** Read at every use, so that a change counts at once. */
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

/** What starts processes or loosens approval is the user's alone: a workspace's value is never looked at. */
function userSetting<T>(name: string, fallback: T): T {
  return vscode.workspace.getConfiguration('filechat').inspect<T>(name)?.globalValue ?? fallback;
}

/** A limit that a workspace can make stricter than the user has it, and never looser. */
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

/** Whether calls are recorded: when, with which consent, sizes and outcome. */
export function isAudited(): boolean {
  return userSetting<unknown>('auditLog', false) === true;
}

/** Patterns such as `charts.*`: which tools are switched off. */
export function disabledTools(): readonly string[] {
  return strings(userSetting<unknown>('disabledTools', []));
}

/** Patterns of names: which of the editor's own tools may be used. */
export function editorTools(): readonly string[] {
  return strings(userSetting<unknown>('editorTools', []));
}

/** Whether models may open again what they were only told of. */
export function offersBuiltInTools(): boolean {
  return userSetting<unknown>('builtInTools', true) !== false;
}

/** Settings are written by hand; what is no text in a list is no entry of it. */
function strings(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string') : [];
}

/** Whether the apps of servers are shown beside the chat. */
export function showsApps(): boolean {
  return userSetting('apps', true);
}

/** Where authorization servers may read who we are, if there is such a place. */
export function clientMetadata(): { readonly clientMetadataUrl?: string } {
  const url = userSetting('oauth.clientMetadataUrl', '').trim();
  return url === '' ? {} : { clientMetadataUrl: url };
}

export function userServers(): unknown {
  return userSetting<unknown>('mcpServers', {});
}

/** Adds one to the user's own servers, or puts it in the place of the one that has its name. */
export async function writeUserServer(name: string, entry: unknown): Promise<void> {
  const servers = userServers();
  if (typeof servers !== 'object' || servers === null || Array.isArray(servers)) {
    throw new Error(
      vscode.l10n.t(
        'The setting filechat.mcpServers is not an object. Put it right first, then add the server.',
      ),
    );
  }
  const settings = vscode.workspace.getConfiguration('filechat');
  await settings.update('mcpServers', { ...servers, [name]: entry }, vscode.ConfigurationTarget.Global);
}

/** What the user says about the results of tools: which fields hold bytes, and a module that sees them first. */
export async function toolSettings(): Promise<ToolSettings> {
  const fields = userSetting<unknown>('results.fields', {});
  const module = userSetting<string>('results.transformer', '');
  return {
    fields: (tool) => readFieldRules(fields, tool),
    ...(module === '' ? {} : { transform: await loadTransformer(module) }),
  };
}

/** A module that cannot be used fails like one that throws: visibly, and with the result as it came. */
async function loadTransformer(path: string): Promise<Transform> {
  try {
    const loaded: { readonly default?: unknown } = await import(pathToFileURL(path).href);
    if (typeof loaded.default === 'function') return loaded.default as Transform;
    throw new Error(`${path} has no function as its default export`);
  } catch (error) {
    return () => Promise.reject(error);
  }
}
