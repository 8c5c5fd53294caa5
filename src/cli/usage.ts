import { parseArgs } from 'node:util';
import { readArguments, readToolName } from '../chat/toolCall.ts';
import type { ToolName } from '../ports.ts';

export const USAGE = `Usage:
  filechat tools --servers mcp.json
      Lists the tools of all servers.
  filechat call SERVER.TOOL [--args JSON] --chat FILE --servers mcp.json [--root DIR]
      Calls a tool and writes the call, its result and its files into the chat.
  filechat run FILE [--servers mcp.json] [--approve ask|auto-readonly|auto] [--root DIR]
      Runs the tool calls that the chat asks for. “ask” asks on the terminal.

  In arguments "asset:NAME" is a file in the chat's cmdassets/, and "file:PATH" one in the chat's folder or
  below DIR (the current folder). The tool gets what its schema asks for: the bytes or the path.
  mcp.json is { "servers": { "NAME": { "command": "…", "args": ["…"] } } }, or "url" instead of "command".
  Exit status: 0 done, 1 failed (the reason is on stderr), 2 wrong usage.
`;

export type Approval = 'ask' | 'auto-readonly' | 'auto';

export type Command =
  | { readonly kind: 'help' }
  | { readonly kind: 'version' }
  | { readonly kind: 'tools'; readonly servers: string }
  | ({
      readonly kind: 'call';
      readonly chat: string;
      readonly servers: string;
      readonly arguments: Arguments;
      readonly root: string;
    } & ToolName)
  | {
      readonly kind: 'run';
      readonly chat: string;
      readonly servers?: string;
      readonly approve: Approval;
      readonly root: string;
    };

type Arguments = Readonly<Record<string, unknown>>;

/** Thrown for a command line that cannot be understood. */
export class UsageError extends Error {}

const OPTIONS = {
  servers: { type: 'string' },
  chat: { type: 'string' },
  args: { type: 'string' },
  approve: { type: 'string' },
  root: { type: 'string' },
  help: { type: 'boolean', short: 'h' },
  version: { type: 'boolean' },
} as const;

export function readCommand(argv: readonly string[]): Command {
  const { values, positionals } = parse(argv);
  const [command, operand, ...rest] = positionals;
  if (values.help || command === 'help') return { kind: 'help' };
  if (values.version) return { kind: 'version' };
  if (rest.length > 0) throw new UsageError(`“${rest[0]}” is one word too many.`);
  switch (command) {
    case 'tools':
      if (operand !== undefined) throw new UsageError(`“${operand}” is one word too many.`);
      return { kind: 'tools', servers: needed(values.servers, '--servers mcp.json') };
    case 'call':
      return {
        kind: 'call',
        ...readName(needed(operand, 'SERVER.TOOL')),
        arguments: readArgs(values.args ?? ''),
        chat: needed(values.chat, '--chat FILE'),
        servers: needed(values.servers, '--servers mcp.json'),
        root: needed(values.root ?? '.', '--root DIR'),
      };
    case 'run':
      return {
        kind: 'run',
        chat: needed(operand, 'FILE'),
        approve: readApproval(values.approve ?? 'ask'),
        root: needed(values.root ?? '.', '--root DIR'),
        ...(values.servers === undefined ? {} : { servers: values.servers }),
      };
    default:
      throw new UsageError(
        command === undefined ? 'A command is missing.' : `There is no command “${command}”.`,
      );
  }
}

function parse(argv: readonly string[]) {
  try {
    return parseArgs({ args: [...argv], options: OPTIONS, allowPositionals: true });
  } catch (error) {
    throw new UsageError((error as Error).message);
  }
}

function needed(value: string | undefined, what: string): string {
  if (value === undefined || value === '') throw new UsageError(`${what} is missing.`);
  return value;
}

function readName(text: string): ToolName {
  const name = readToolName(text);
  if (!name) throw new UsageError(`“${text}” is not a tool: write SERVER.TOOL, such as charts.bar.`);
  return name;
}

function readArgs(text: string): Arguments {
  const read = readArguments(text);
  if (!read.ok) throw new UsageError(`--args: ${read.message}`);
  return read.value;
}

function readApproval(text: string): Approval {
  if (text === 'ask' || text === 'auto-readonly' || text === 'auto') return text;
  throw new UsageError('--approve takes ask, auto-readonly or auto.');
}
