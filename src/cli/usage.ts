import { parseArgs } from 'node:util';
import { messageOf } from '../base/errors.ts';
import { SETTINGS, type SettingValues, settingProblem } from '../base/settings.ts';
import { fillTemplate } from '../base/uriTemplate.ts';
import { needsServers } from '../catalog/tools/builtIn.ts';
import { parseArguments, readToolName } from '../chat/format/calls.ts';
import type { ResourceName } from '../ports/servers.ts';
import type { ToolName } from '../ports/tools.ts';

export const USAGE = `Usage:
  filechat tools --servers mcp.json
      Lists the tools of all servers.
  filechat call SERVER.TOOL [--args JSON] --chat FILE --servers mcp.json [--root DIR]
                [--audit FILE] [--timeout SECONDS] [--settings FILE]
      Calls a tool and writes the call, its result and its files into the chat. The tools filechat.list_assets,
      filechat.read_asset and filechat.search_chats are always there and need no --servers.
  filechat resources --servers mcp.json
      Lists the resources and templates of all servers: server, URI, name, type and bytes, separated by tabs.
  filechat read SERVER URI [--args JSON] --chat FILE --servers mcp.json [--root DIR]
                [--audit FILE] [--timeout SECONDS] [--settings FILE]
      Reads a resource into your turn of the chat: its text, and links to its files. --args fills in a template.
  filechat run FILE [--model NAME] [--models models.json] [--servers mcp.json]
               [--approve ask|auto-readonly|auto] [--max-steps N] [--images auto|always|never]
               [--root DIR] [--audit FILE] [--timeout SECONDS] [--settings FILE]
      Does what the chat asks for next: a reply, its tool calls, and so on until it is your turn, or the rest of
      a reply that was cut. “ask” asks on the terminal. Ctrl+C stops and leaves a valid chat.
  filechat retry FILE
      Saves the files of results that could not be saved to cmdassets/, and puts their links into the chat.

  In arguments "asset:NAME" is a file in the chat's cmdassets/, and "file:PATH" one in the chat's folder or
  below DIR, as are files that turns link to. The tool gets what its schema asks for: the bytes or the path.
  mcp.json is { "servers": { "NAME": { "command": "…", "args": ["…"] } } }, or "url" instead of "command".
  An env value or header may be \${input:ID}, which is FILECHAT_INPUT_ID of the environment. FILE of --audit gets a
  line for every call: time, permission, sizes, the files that the tool was given, and outcome, but no contents.
  FILE of --settings is a JSON object with settings of the editor, with or without the prefix “filechat.”, such as
  { "timeoutSeconds": 120, "results": { "fields": { … }, "transformer": "./transformer.mjs" } }. Paths in it are
  relative to it, and options on the command line take precedence. “auditLog” writes audit.jsonl beside it.
  --timeout is the time without progress before a call fails; --images says whether the model gets images.
  models.json is { "models": { "NAME": { "provider": "…", "model": "…", "baseUrl": "…" } } }; NAME may also be
  provider/model, such as anthropic/MODEL. Keys are in the environment: FILECHAT_KEY_NAME, else ANTHROPIC_API_KEY,
  OPENAI_API_KEY or GOOGLE_GENERATIVE_AI_API_KEY. Without any model a local Ollama or LM Studio is used, else the
  tour, which is a script and no model.
  Exit status: 0 done, 1 failed (the reason is on stderr), 2 wrong usage.
`;

export type Command =
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'tools'; readonly servers: string }
  | { readonly kind: 'resources'; readonly servers: string }
  | { readonly kind: 'retry'; readonly chat: string }
  | (ChatOptions & ToolName & { readonly kind: 'call'; readonly arguments: Arguments })
  | (ChatOptions & ResourceName & { readonly kind: 'read' })
  | (ChatOptions & {
      readonly kind: 'run';
      readonly model: string | undefined;
      readonly models: string | undefined;
    });

export type Work = Exclude<Command, { kind: 'help' | 'version' | 'retry' }>;

export type ChatWork = Extract<Work, ChatOptions>;

interface ChatOptions {
  readonly chat: string;
  /** Optional for built-in tools, for chats without tool calls, and beside a file of settings. */
  readonly servers: string | undefined;
  readonly root: string | undefined;
  readonly audit: string | undefined;
  /** The path of a file of settings. */
  readonly settings: string | undefined;
  /** Settings that are given as options, which take precedence over the file. */
  readonly overrides: Partial<SettingValues>;
}

type Arguments = Readonly<Record<string, unknown>>;

export class UsageError extends Error {}

const OPTIONS = {
  servers: { type: 'string' },
  chat: { type: 'string' },
  args: { type: 'string' },
  approve: { type: 'string' },
  model: { type: 'string' },
  models: { type: 'string' },
  'max-steps': { type: 'string' },
  root: { type: 'string' },
  audit: { type: 'string' },
  settings: { type: 'string' },
  timeout: { type: 'string' },
  images: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

export function readCommand(argv: readonly string[]): Command {
  const { values, positionals } = parse(argv);
  const [command = '', ...operands] = positionals;
  if (values.help || command === 'help') return { kind: 'help' };
  if (values.version) return { kind: 'version' };
  const extra = operands[OPERANDS[command] ?? 1];
  if (extra !== undefined) throw new UsageError(`Unexpected argument “${extra}”.`);
  switch (command) {
    case 'tools':
    case 'resources':
      return { kind: command, servers: needed(values.servers, '--servers mcp.json') };
    case 'retry':
      return { kind: 'retry', chat: needed(operands[0], 'FILE') };
    case 'call':
      return readCall(values, operands);
    case 'read':
      return readRead(values, operands);
    case 'run': {
      const { servers, model, models } = values;
      const chat = needed(operands[0], 'FILE');
      return { kind: 'run', chat, servers, model, models, ...chatOptions(values) };
    }
    default:
      throw new UsageError(command === '' ? 'A command is missing.' : `Unknown command “${command}”.`);
  }
}

type Values = ReturnType<typeof parse>['values'];

function readCall(values: Values, [name = '']: readonly string[]): Command {
  const tool = readName(needed(name, 'SERVER.TOOL'));
  return {
    kind: 'call',
    ...tool,
    arguments: readArgs(values.args ?? ''),
    chat: needed(values.chat, '--chat FILE'),
    servers: needsServers(tool) ? configuredServers(values) : values.servers,
    ...chatOptions(values),
  };
}

function readRead(values: Values, [server, uri]: readonly string[]): Command {
  return {
    kind: 'read',
    server: needed(server, 'SERVER'),
    uri: readUri(needed(uri, 'URI'), values.args ?? ''),
    chat: needed(values.chat, '--chat FILE'),
    servers: configuredServers(values),
    ...chatOptions(values),
  };
}

/** A file of settings can name the servers instead. */
function configuredServers({ servers, settings }: Values): string | undefined {
  return settings === undefined ? needed(servers, '--servers mcp.json') : servers;
}

function chatOptions(values: Values) {
  const { root, audit, settings } = values;
  return {
    root: root === undefined ? undefined : needed(root, '--root DIR'),
    audit: audit === undefined ? undefined : needed(audit, '--audit FILE'),
    settings: settings === undefined ? undefined : needed(settings, '--settings FILE'),
    overrides: readOverrides(values),
  };
}

const OPERANDS: Readonly<Record<string, number>> = { tools: 0, resources: 0, read: 2 };

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError(messageOf(error));
  }
}

function needed(value: string | undefined, what: string): string {
  if (value === undefined || value === '') throw new UsageError(`${what} is missing.`);
  return value;
}

function readName(text: string): ToolName {
  const name = readToolName(text);
  if (!name) throw new UsageError(`“${text}” is not a tool. Write SERVER.TOOL, such as charts.bar.`);
  return name;
}

function readArgs(text: string): Arguments {
  const read = parseArguments(text);
  if (!read.ok) throw new UsageError(`--args: ${read.message}`);
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

function readOverrides(options: Readonly<Record<string, unknown>>): Partial<SettingValues> {
  const given = Object.entries(OPTIONS_OF_SETTINGS).flatMap(([option, name]) => {
    const text = options[option];
    if (text === undefined) return [];
    const value = SETTINGS[name].type === 'string' ? text : Number(text);
    const expected = settingProblem(name, value);
    if (expected !== undefined) throw new UsageError(`--${option} must be ${expected}.`);
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
