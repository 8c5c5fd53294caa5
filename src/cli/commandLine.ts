import { parseArgs } from 'node:util';
import { messageOf } from '../base/errors.ts';
import { SETTINGS, type SettingValues, settingProblem } from '../base/settings.ts';
import { fillTemplate } from '../base/uriTemplate.ts';
import { needsServers } from '../catalog/tools/builtIn.ts';
import { parseArguments, readToolName } from '../chat/format/callInfo.ts';
import type { ResourceName } from '../ports/servers.ts';
import type { ToolName } from '../ports/tools.ts';
import {
  COMMANDS,
  type CommandName,
  isCommandName,
  OPTIONS,
  type OptionName,
  optionsOf,
  renderOption,
} from './help.ts';

export type Command =
  | { readonly kind: 'help'; readonly about: CommandName | undefined }
  | { readonly kind: 'version' }
  | { readonly kind: 'tools'; readonly servers: string; readonly overrides: Overrides }
  | { readonly kind: 'resources'; readonly servers: string; readonly overrides: Overrides }
  | { readonly kind: 'retry'; readonly chat: string }
  | AttachCommand
  | (ChatOptions & ToolName & { readonly kind: 'call'; readonly arguments: Arguments })
  | (ChatOptions & ResourceName & { readonly kind: 'read' })
  | (ChatOptions & {
      readonly kind: 'run';
      readonly model: string | undefined;
      readonly models: string | undefined;
    });

export type Work = Exclude<Command, { kind: 'help' | 'version' | 'retry' | 'attach' }>;

export type ChatWork = Extract<Work, ChatOptions>;

export interface AttachCommand extends Pick<ChatOptions, 'chat' | 'settings' | 'overrides'> {
  readonly kind: 'attach';
  readonly address: string;
  readonly allowHost: string | undefined;
}

interface ChatOptions {
  readonly chat: string;
  /** Optional for built-in tools, for chats without tool calls, and beside a file of settings. */
  readonly servers: string | undefined;
  readonly root: string | undefined;
  readonly audit: string | undefined;
  /** The path of a file of settings. */
  readonly settings: string | undefined;
  /** Settings that are given as options, which take precedence over the file. */
  readonly overrides: Overrides;
}

type Overrides = Partial<SettingValues>;

type Arguments = Readonly<Record<string, unknown>>;

/** Wrong usage; `about` is the command that was meant. */
export class UsageError extends Error {
  readonly about: CommandName | undefined;

  constructor(message: string, about?: CommandName) {
    super(message);
    this.about = about;
  }
}

type Values = Readonly<Partial<Record<OptionName, string>>>;

export function readCommand(argv: readonly string[]): Command {
  const [first = '', ...operands] = operandsOf(argv);
  const about = first === 'help' ? operands[0] : first;
  const name = about !== undefined && isCommandName(about) ? about : undefined;
  try {
    return readNamed(first, name, { operands, values: readOptions(argv, name) });
  } catch (error) {
    throw error instanceof UsageError ? new UsageError(error.message, name) : error;
  }
}

interface GivenWords {
  readonly operands: readonly string[];
  readonly values: Values;
}

function readNamed(first: string, name: CommandName | undefined, { operands, values }: GivenWords): Command {
  if (first === 'help' && operands[0] !== undefined && name === undefined) throw unknownCommand(operands[0]);
  if (first === 'help' || values.help !== undefined) return { kind: 'help', about: name };
  if (values.version !== undefined) return { kind: 'version' };
  if (first === '') throw new UsageError('No command was given.');
  if (name === undefined) throw unknownCommand(first);
  const { operands: taken } = COMMANDS[name];
  const extra = operands[taken.length];
  if (extra !== undefined) {
    throw new UsageError(`Unexpected argument “${extra}”. Quote arguments that contain spaces.`);
  }
  for (const [at, operand] of taken.entries()) requireArgument(operands[at], operand);
  return READERS[name](values, operands);
}

function unknownCommand(name: string): UsageError {
  return new UsageError(`Unknown command “${name}”. The commands are ${Object.keys(COMMANDS).join(', ')}.`);
}

const READERS: Readonly<Record<CommandName, (values: Values, operands: readonly string[]) => Command>> = {
  tools: (values) => ({ kind: 'tools', ...listOptions(values) }),
  resources: (values) => ({ kind: 'resources', ...listOptions(values) }),
  retry: (_, [chat = '']) => ({ kind: 'retry', chat }),
  attach: (values, [address = '']) => ({
    kind: 'attach',
    address,
    chat: requireOption(values.chat, 'chat'),
    allowHost: values['allow-host'],
    settings: values.settings,
    overrides: readOverrides(values),
  }),
  call: readCall,
  read: readRead,
  run: (values, [chat = '']) => {
    const { servers, model, models } = values;
    return { kind: 'run', chat, servers, model, models, ...chatOptions(values) };
  },
};

function listOptions(values: Values) {
  return { servers: requireOption(values.servers, 'servers'), overrides: readOverrides(values) };
}

function readCall(values: Values, [name = '']: readonly string[]): Command {
  const tool = readName(name);
  return {
    kind: 'call',
    ...tool,
    arguments: readArgs(values.args ?? ''),
    chat: requireOption(values.chat, 'chat'),
    servers: needsServers(tool) ? configuredServers(values) : values.servers,
    ...chatOptions(values),
  };
}

function readRead(values: Values, [server = '', uri = '']: readonly string[]): Command {
  return {
    kind: 'read',
    server,
    uri: readUri(uri, values.args ?? ''),
    chat: requireOption(values.chat, 'chat'),
    servers: configuredServers(values),
    ...chatOptions(values),
  };
}

/** A file of settings can name the servers instead. */
function configuredServers({ servers, settings }: Values): string | undefined {
  return settings === undefined ? requireOption(servers, 'servers') : servers;
}

function chatOptions(values: Values) {
  const { root, audit, settings } = values;
  return { root, audit, settings, overrides: readOverrides(values) };
}

function tokensOf(argv: readonly string[]) {
  const options = Object.fromEntries(
    Object.entries(OPTIONS).map(([name, about]) => [
      name,
      { type: 'value' in about ? ('string' as const) : ('boolean' as const) },
    ]),
  );
  const config = {
    options: { ...options, help: { type: 'boolean', short: 'h' } },
    allowPositionals: true,
  } as const;
  return parseArgs({ args: [...argv], ...config, strict: false, tokens: true }).tokens;
}

function operandsOf(argv: readonly string[]): readonly string[] {
  return tokensOf(argv).flatMap((token) => (token.kind === 'positional' ? [token.value] : []));
}

/** The values of the options, and an empty text for switches. */
function readOptions(argv: readonly string[], command: CommandName | undefined): Values {
  const values: Partial<Record<OptionName, string>> = {};
  for (const token of tokensOf(argv)) {
    if (token.kind !== 'option') continue;
    const { name, rawName, value, inlineValue } = token;
    if (!isOptionName(name)) throw new UsageError(`Unknown option “${rawName}”.`);
    const takes = command === undefined || name === 'version' || optionsOf(command).includes(name);
    if (!takes) throw new UsageError(`“filechat ${command}” has no option ${rawName}.`);
    values[name] = 'value' in OPTIONS[name] ? readValue(name, value, inlineValue) : '';
  }
  return values;
}

function isOptionName(name: string): name is OptionName {
  return Object.hasOwn(OPTIONS, name);
}

/** A value that looks like an option is more likely a forgotten value. No arguments are the same as `{}`. */
function readValue(name: OptionName, value: string | undefined, isInline: boolean | undefined): string {
  const isEmpty = value === '' && name !== 'args';
  const isForgotten = value === undefined || isEmpty || (value.startsWith('--') && !isInline);
  if (isForgotten) throw new UsageError(`The option --${name} needs a value: ${renderOption(name)}.`);
  return value;
}

function requireArgument(value: string | undefined, name: string): void {
  if (value === undefined || value === '') throw new UsageError(`The argument ${name} is missing.`);
}

function requireOption(value: string | undefined, name: OptionName): string {
  if (value === undefined) throw new UsageError(`The option ${renderOption(name)} is missing.`);
  return value;
}

function readName(text: string): ToolName {
  const name = readToolName(text);
  if (!name)
    throw new UsageError(`“${text}” is not the name of a tool. Use SERVER.TOOL, such as charts.bar.`);
  return name;
}

function readArgs(text: string): Arguments {
  const read = parseArguments(text);
  if (!read.ok) throw new UsageError(`The option --args is not valid. ${read.message}`);
  return read.value;
}

function readUri(uri: string, args: string): string {
  try {
    return fillTemplate(uri, readArgs(args));
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

const OPTIONS_OF_SETTINGS = {
  approve: 'approve',
  'max-steps': 'maxSteps',
  timeout: 'timeoutSeconds',
  images: 'results.sendImagesToModel',
} as const;

function readOverrides(options: Values): Overrides {
  const names = Object.keys(OPTIONS_OF_SETTINGS) as (keyof typeof OPTIONS_OF_SETTINGS)[];
  const given = names.flatMap((option) => {
    const name = OPTIONS_OF_SETTINGS[option];
    const text = options[option];
    if (text === undefined) return [];
    const value = SETTINGS[name].type === 'string' ? text : Number(text);
    const expected = settingProblem(name, value);
    if (expected !== undefined)
      throw new UsageError(`The option --${option} must be ${expected}, not “${text}”.`);
    return [[name, value]];
  });
  return Object.fromEntries(given);
}

/** Resolves to undefined when the user or the signal ends the question without an answer. */
export type TerminalAsk = (question: string, signal: AbortSignal) => Promise<string | undefined>;

export interface CliContext {
  out(text: string): void;
  err(text: string): void;
  /** Undefined without a terminal. */
  readonly ask: TerminalAsk | undefined;
  readonly version: string;
  /** Aborted by Ctrl+C. */
  readonly signal: AbortSignal;
}
