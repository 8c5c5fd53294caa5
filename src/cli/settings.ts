import { readFile } from 'node:fs/promises';
import { dirname, join, resolve } from 'node:path';
import type { FileLimits } from '../assets/chatFiles.ts';
import { messageOf } from '../base/errors.ts';
import { readFailure } from '../base/fileErrors.ts';
import { parseConfig } from '../base/json.ts';
import { readSettingsObject, type SettingValues, settingValues } from '../base/settings.ts';
import { readServers } from '../mcp/config/readServers.ts';
import { fieldProblems, readToolSettings, type ToolSettings } from '../mcp/config/toolSettings.ts';
import { MAX_TIMER_MS } from '../mcp/connection/requestTimers.ts';
import type { ResultLimits } from '../mcpClient.ts';
import { readModels } from '../model/config/modelConfig.ts';
import { type AttachCommand, UsageError, type Work } from './commandLine.ts';
import type { CommandName } from './help.ts';

export interface CliSettings extends SettingValues {
  /** The folder of the file of settings, else the current one. Paths in the settings are relative to it. */
  readonly folder: string;
  readonly auditPath: string | undefined;
}

/** The settings of the file that the command names, with the options of the command line before them. */
export async function readCliSettings(command: Work | AttachCommand): Promise<CliSettings> {
  const { overrides } = command;
  const path = 'chat' in command ? command.settings : undefined;
  const folder = path === undefined ? resolve() : dirname(resolve(path));
  const values = settingValues({
    ...(path === undefined ? {} : await readFileOf(path, command.kind)),
    ...overrides,
  });
  return { ...values, folder, auditPath: values.auditLog ? join(folder, 'audit.jsonl') : undefined };
}

/** Throws for a file that is not valid: a setting that is silently ignored could save or send the wrong things. */
async function readFileOf(path: string, command: CommandName): Promise<Readonly<Record<string, unknown>>> {
  const { values, problems } = readSettingsObject(await parseFile(path, command));
  const all = [
    ...problems,
    ...readServers(values['mcpServers'], 'asWritten').problems,
    ...readModels(values['models']).problems,
    ...fieldProblems(values['results.fields']),
    ...typeProblems(values['results.allowedMimeTypes']),
  ];
  if (all.length > 0)
    throw new UsageError(`The settings in ${path} are not valid.\n${all.join('\n')}`, command);
  return values;
}

/** A type that can match nothing refuses every file. */
function typeProblems(types: unknown): readonly string[] {
  const invalid = Array.isArray(types) ? types.filter((each) => each !== '*' && !/.\/./.test(each)) : [];
  return invalid.map(
    (each) =>
      `The type “${each}” of “results.allowedMimeTypes” must be one such as application/pdf, or a group such as image/*.`,
  );
}

async function parseFile(path: string, command: CommandName): Promise<unknown> {
  try {
    return parseConfig(await readText(path));
  } catch (error) {
    throw new UsageError(`Could not read the settings in ${path}: ${messageOf(error)}`, command);
  }
}

/** Reads a file that the user has named. Rejects with the reason only; the caller names the file. */
export async function readText(path: string): Promise<string> {
  try {
    return await readFile(path, 'utf8');
  } catch (error) {
    throw new Error(`${readFailure(error) ?? messageOf(error)}.`);
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
