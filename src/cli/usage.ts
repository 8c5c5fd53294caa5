import { parseArgs } from 'node:util';
import { messageOf } from '../base/errors.ts';
import { BUILT_IN_SERVER } from '../catalog/tools/builtIn.ts';

import { parseArguments, readToolName } from '../chat/format/calls.ts';
import type { Approval, ToolName } from '../ports/tools.ts';

export const USAGE = `Usage:
  filechat tools --servers mcp.json
      Lists the tools of all servers.
  filechat call SERVER.TOOL [--args JSON] --chat FILE --servers mcp.json [--root DIR]
                [--audit FILE]
      Calls a tool and writes the call, its result and its files into the chat. The tools filechat.list_assets,
      filechat.read_asset and filechat.search_chats are always there and need no --servers.
  filechat run FILE [--model NAME] [--models models.json] [--servers mcp.json]
               [--approve ask|auto-readonly|auto] [--max-steps N] [--root DIR] [--audit FILE]
      Does what the chat asks for next: a reply, its tool calls, and so on until it is your turn, or the rest of
      a reply that was cut. “ask” asks on the terminal. Ctrl+C stops and leaves a valid chat.
  filechat retry FILE
      Saves the files of results that could not be saved to cmdassets/, and puts their links into the chat.

  In arguments "asset:NAME" is a file in the chat's cmdassets/, and "file:PATH" one in the chat's folder or
  below DIR, as are files that turns link to. The tool gets what its schema asks for: the bytes or the path.
  mcp.json is { "servers": { "NAME": { "command": "…", "args": ["…"] } } }, or "url" instead of "command".
  An env value or header may be \${input:ID}, which is FILECHAT_INPUT_ID of the environment. FILE of --audit gets a
  line for every call: when, with which consent, how large, and with what outcome, but no contents.
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
  | { readonly kind: 'retry'; readonly chat: string }
  | (ChatOptions & ToolName & { readonly kind: 'call'; readonly arguments: Arguments })
  | (ChatOptions & {
      readonly kind: 'run';
      readonly model: string | undefined;
      readonly models: string | undefined;
      readonly approve: Approval;
      readonly maxSteps: number;
    });

export type Work = Extract<Command, { kind: 'tools' | 'call' | 'run' }>;

interface ChatOptions {
  readonly chat: string;
  /** Optional for built-in tools and for chats without tool calls. */
  readonly servers: string | undefined;
  readonly root: string | undefined;
  readonly audit: string | undefined;
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
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

export function readCommand(argv: readonly string[]): Command {
  const { values, positionals } = parse(argv);
  const [command, operand, ...rest] = positionals;
  if (values.help || command === 'help') return { kind: 'help' };
  if (values.version) return { kind: 'version' };
  const extra = command === 'tools' ? operand : rest[0];
  if (extra !== undefined) throw new UsageError(`Unexpected argument “${extra}”.`);
  const places = () => ({
    root: values.root === undefined ? undefined : needed(values.root, '--root DIR'),
    audit: values.audit === undefined ? undefined : needed(values.audit, '--audit FILE'),
  });
  switch (command) {
    case 'tools':
      return { kind: 'tools', servers: needed(values.servers, '--servers mcp.json') };
    case 'retry':
      return { kind: 'retry', chat: needed(operand, 'FILE') };
    case 'call': {
      const name = readName(needed(operand, 'SERVER.TOOL'));
      const isBuiltIn = name.server === BUILT_IN_SERVER && values.servers === undefined;
      return {
        kind: 'call',
        ...name,
        arguments: readArgs(values.args ?? ''),
        chat: needed(values.chat, '--chat FILE'),
        servers: isBuiltIn ? undefined : needed(values.servers, '--servers mcp.json'),
        ...places(),
      };
    }
    case 'run':
      return {
        kind: 'run',
        chat: needed(operand, 'FILE'),
        approve: readApproval(values.approve ?? 'ask'),
        maxSteps: readSteps(values['max-steps']),
        servers: values.servers,
        model: values.model,
        models: values.models,
        ...places(),
      };
    default:
      throw new UsageError(command === undefined ? 'A command is missing.' : `Unknown command “${command}”.`);
  }
}

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

function readApproval(text: string): Approval {
  if (text === 'ask' || text === 'auto-readonly' || text === 'auto') return text;
  throw new UsageError('--approve must be ask, auto-readonly or auto.');
}

const DEFAULT_MAX_STEPS = 25;

function readSteps(text: string | undefined): number {
  if (text === undefined) return DEFAULT_MAX_STEPS;
  const steps = Number(text);
  if (Number.isInteger(steps) && steps > 0) return steps;
  throw new UsageError('--max-steps must be a whole number above 0.');
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
