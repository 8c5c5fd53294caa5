import type { ToolInfo } from '../ports.ts';
import { field } from './json.ts';

/** What a server may claim about its tools before it is cut short. */
export const MAX_TOOLS_PER_SERVER = 1000;
const MAX_PAGES = 100;
const MAX_TITLE_CHARS = 200;
const MAX_DESCRIPTION_CHARS = 4000;

export interface ServerTools {
  readonly tools: readonly ToolInfo[];
  /** What was left out or cut, one sentence each. */
  readonly notices: readonly string[];
  /** Why the rest of the list could not be read. */
  readonly failure?: string;
}

/** Walks all pages of `tools/list`. What came before a failure is kept. */
export async function collectTools(
  server: string,
  askPage: (cursor: string | undefined) => Promise<unknown>,
): Promise<ServerTools> {
  const tools = new Map<string, ToolInfo>();
  const notices: string[] = [];
  const seenCursors = new Set<string>();
  let cursor: string | undefined;
  try {
    do {
      const page = await askPage(cursor);
      addTools(server, page, tools, notices);
      cursor = nextCursor(page);
      if (tools.size >= MAX_TOOLS_PER_SERVER || seenCursors.size >= MAX_PAGES) {
        notices.push(`The list of tools was cut after ${tools.size} tools.`);
        break;
      }
      if (cursor !== undefined && seenCursors.has(cursor)) {
        notices.push('The list of tools runs in a circle; it was read once.');
        break;
      }
      seenCursors.add(cursor ?? '');
    } while (cursor !== undefined);
  } catch (error) {
    return { tools: [...tools.values()], notices, failure: (error as Error).message };
  }
  return { tools: [...tools.values()], notices };
}

function addTools(server: string, page: unknown, tools: Map<string, ToolInfo>, notices: string[]): void {
  const list = field(page, 'tools');
  if (!Array.isArray(list)) {
    throw new Error('it answered tools/list without a list of tools');
  }
  for (const [index, definition] of list.entries()) {
    if (tools.size >= MAX_TOOLS_PER_SERVER) {
      return;
    }
    const tool = readTool(server, definition);
    if (typeof tool === 'string') {
      notices.push(`Tool ${index + 1} of ${list.length} is left out: ${tool}.`);
    } else if (tools.has(tool.tool)) {
      notices.push(`Tool ${JSON.stringify(tool.tool)} is listed twice; the first one counts.`);
    } else {
      tools.set(tool.tool, tool);
    }
  }
}

// In a chat a name is written encoded as one word; only what nobody could read is refused.
const TOOL_NAME = /^[^\p{C}\p{Zl}\p{Zp}]{1,256}$/u;

/** The tool, or what is wrong with its definition. */
function readTool(server: string, definition: unknown): ToolInfo | string {
  const name = field(definition, 'name');
  if (typeof name !== 'string') {
    return 'it has no name';
  }
  if (!TOOL_NAME.test(name)) {
    return `its name ${JSON.stringify(name.slice(0, MAX_TITLE_CHARS))} has characters that cannot be seen, or too many`;
  }
  const inputSchema = field(definition, 'inputSchema') ?? { type: 'object' };
  if (typeof inputSchema !== 'object' || Array.isArray(inputSchema)) {
    return `the input schema of ${JSON.stringify(name)} is not an object`;
  }
  const title = field(definition, 'title') ?? field(field(definition, 'annotations'), 'title');
  const description = field(definition, 'description');
  const readOnly = field(field(definition, 'annotations'), 'readOnlyHint');
  return {
    server,
    tool: name,
    inputSchema,
    ...(typeof title === 'string' ? { title: cut(title, MAX_TITLE_CHARS) } : {}),
    ...(typeof description === 'string' ? { description: cut(description, MAX_DESCRIPTION_CHARS) } : {}),
    ...(typeof readOnly === 'boolean' ? { readOnly } : {}),
  };
}

function nextCursor(page: unknown): string | undefined {
  const cursor = field(page, 'nextCursor');
  return typeof cursor === 'string' && cursor !== '' ? cursor : undefined;
}

function cut(text: string, maxChars: number): string {
  return text.length <= maxChars ? text : `${text.slice(0, maxChars)}… (${text.length} characters)`;
}
