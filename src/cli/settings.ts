import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { FileLimits } from '../assets/chatFiles.ts';
import { messageOf } from '../base/errors.ts';
import { parseJsonWithComments } from '../base/json.ts';
import { readSettingsObject, type SettingValues, settingValues } from '../base/settings.ts';
import { readServers } from '../mcp/config/servers.ts';
import { fieldProblems, readToolSettings, type ToolSettings } from '../mcp/config/toolSettings.ts';
import { MAX_TIMER_MS } from '../mcp/connection/requestTimers.ts';
import type { ResultLimits } from '../mcpClient.ts';
import { readModels } from '../model/config/models.ts';
import { UsageError, type Work } from './usage.ts';

export interface CliSettings extends SettingValues {
  /** The folder of the file of settings, else the current one. Paths in the settings are relative to it. */
  readonly folder: string;
  readonly auditPath: string | undefined;
}

/** The settings of the file that the command names, with the options of the command line before them. */
export async function readCliSettings(command: Work): Promise<CliSettings> {
  if (!('chat' in command)) return { ...settingValues({}), folder: resolve(), auditPath: undefined };
  const { settings: path, overrides } = command;
  const folder = path === undefined ? resolve() : dirname(resolve(path));
  const values = settingValues({ ...(path === undefined ? {} : await readFileOf(path)), ...overrides });
  return { ...values, folder, auditPath: values.auditLog ? join(folder, 'audit.jsonl') : undefined };
}

/** Throws for a file that is not valid: a setting that is silently ignored could save or send the wrong things. */
async function readFileOf(path: string): Promise<Readonly<Record<string, unknown>>> {
  const { values, problems } = readSettingsObject(await parseFile(path));
  const all = [
    ...problems,
    ...readServers(values['mcpServers'], 'asWritten').problems,
    ...readModels(values['models']).problems,
    ...fieldProblems(values['results.fields']),
  ];
  if (all.length > 0) throw new UsageError(`The settings in ${path} cannot be used:\n${all.join('\n')}`);
  return values;
}

async function parseFile(path: string): Promise<unknown> {
  try {
    return parseJsonWithComments(await readFile(path, 'utf8'));
  } catch (error) {
    throw new UsageError(`The settings in ${path} could not be read: ${messageOf(error)}`);
  }
}

export function limitsOf(settings: CliSettings): ResultLimits & FileLimits {
  return {
    maxInlineChars: settings['results.maxInlineChars'],
    maxAssetBytes: settings['results.maxAssetBytes'],
    allowedMimeTypes: settings['results.allowedMimeTypes'],
  };
}

export function toolSettingsOf(settings: CliSettings): Promise<ToolSettings> {
  const { 'results.fields': fields, 'results.transformer': path } = settings;
  return readToolSettings({ fields, transformer: path === '' ? '' : resolve(settings.folder, path) });
}

/** A script cannot try again, so a reply waits until every server has listed its tools or failed. */
export function maxListMs({ timeoutSeconds }: CliSettings): number {
  return Math.min(5 * timeoutSeconds * 1000, MAX_TIMER_MS);
}
