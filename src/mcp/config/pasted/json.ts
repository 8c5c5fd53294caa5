import { field, isObject, parseJsonWithComments } from '../../../base/json.ts';
import { addressOf } from '../readServers.ts';
import { PasteError, type PasteProblem, type RawServer, type RawServers } from './types.ts';

/** Reads the servers in JSON of any known shape. Throws a PasteError. */
export function readJsonText(text: string): RawServers {
  return readServersJson(parseLoosely(text));
}

export function readServersJson(json: unknown): RawServers {
  const servers = findServers(json);
  if (servers === undefined) throw new PasteError({ kind: 'noServers' });
  const inputs = field(json, 'inputs') ?? field(field(json, 'mcp'), 'inputs');
  return { servers, inputs: Array.isArray(inputs) ? inputs : [] };
}

/** Under these names, hosts keep their servers. `mcp` is also a block of VS Code's settings. */
const ROOTS = ['mcpServers', 'servers', 'filechat.mcpServers', 'context_servers', 'mcp_servers'];

function findServers(json: unknown): readonly RawServer[] | undefined {
  if (Array.isArray(json)) return json.map(unnamed);
  if (!isObject(json)) return undefined;
  const roots = [...ROOTS.map((name) => field(json, name)), ...projectRoots(json)];
  const found = roots.flatMap((root) => listServers(root) ?? []);
  const hasRoot = roots.some((root) => root !== undefined);
  if (hasRoot) return found;
  const mcp = field(json, 'mcp');
  if (isObject(mcp) && !isEntry(mcp)) return findServers(mcp);
  if (isEntry(json)) return [unnamed(json)];
  return Object.values(json).some(isEntry) ? listServers(json) : undefined;
}

/** Claude Code keeps servers for each folder, too. */
function projectRoots(json: object): readonly unknown[] {
  const projects = field(json, 'projects');
  return isObject(projects) ? Object.values(projects).map((folder) => field(folder, 'mcpServers')) : [];
}

function listServers(root: unknown): readonly RawServer[] | undefined {
  if (Array.isArray(root)) return root.map(unnamed);
  if (!isObject(root)) return undefined;
  return Object.entries(root).map(([name, entry]) => ({ name, entry }));
}

function unnamed(entry: unknown): RawServer {
  const name = field(entry, 'name');
  return { entry, ...(typeof name === 'string' && { name }) };
}

function isEntry(value: unknown): boolean {
  return isObject(value) && (field(value, 'command') !== undefined || addressOf(value) !== undefined);
}

/**
 * Parses JSON with comments and trailing commas. A box of one line turns line breaks into spaces, so a `//` comment
 * would reach to the end: there, it ends before the next quote or bracket. A comment that contains such a character
 * may be a property that was disabled, so it is rejected.
 */
function parseLoosely(text: string): unknown {
  const wrapped = /^\s*"/.test(text) ? `{${text.replace(/,\s*$/, '')}}` : text;
  try {
    return parseJsonWithComments(wrapped);
  } catch (error) {
    const hasComments = /\/\//.test(wrapped.replace(STRING, ''));
    if (!hasComments || /[\r\n]/.test(wrapped.trim())) {
      throw new PasteError(jsonProblem(wrapped, (error as Error).message));
    }
  }
  try {
    return parseJsonWithComments(wrapped.replace(STRING_OR_LINE_COMMENT, dropComment));
  } catch {
    throw new PasteError({ kind: 'comments' });
  }
}

/** With the text around the position, which is hard to count in one line. */
function jsonProblem(text: string, message: string): PasteProblem {
  const [, reason = message, position] = /^(.*?)(?: in JSON)? at position (\d+)/s.exec(message) ?? [];
  // Some messages quote a part of the text, which the user sees anyway.
  if (position === undefined)
    return { kind: 'json', reason: reason.replace(/, [."].* is not valid JSON$/s, '') };
  const near = text.slice(Math.max(0, Number(position) - 15), Number(position) + 15);
  return { kind: 'json', reason, near };
}

const STRING = /"(?:[^"\\]|\\.)*"/g;
const STRING_OR_LINE_COMMENT = /"(?:[^"\\]|\\.)*"|\/\/[^"{}[\]]*/g;

function dropComment(found: string, at: number, text: string): string {
  if (found.startsWith('"')) return found;
  const isCode = found.slice(2).trim() === '' && /^["{[]/.test(text.slice(at + found.length));
  if (isCode) throw new PasteError({ kind: 'comments' });
  return ' ';
}
