import * as z from 'zod';
import { messageOf } from '../../base/errors.ts';
import { visibleLine } from '../../base/lines.ts';
import { describeSize } from '../../base/size.ts';
import { fillTemplate } from '../../base/uriTemplate.ts';
import type { ToolResult } from '../../ports/results.ts';
import type { ResourceInfo, ResourceList, ServerHost, TemplateInfo } from '../../ports/servers.ts';
import type { ToolCallOptions, ToolInfo } from '../../ports/tools.ts';
import { CatalogRefusal } from '../entry.ts';
import { input, inputSchema, readArguments, text } from '../toolSpecs.ts';
import { textPart } from './texts.ts';

export type ResourceHost = Pick<ServerHost, 'states' | 'listResources' | 'readResource'>;

export interface ResourceAccess {
  readonly host: ResourceHost;
  /** Asks the user for a server that may not be started yet. Resolves to the reason if it may not be used. */
  readonly refusal?: ((server: string, chat: string | undefined) => Promise<string | undefined>) | undefined;
}

const MAX_URI_CHARS = 8 * 1024;
const MAX_NAME_CHARS = 100;
/** About 2,000 tokens. */
const MAX_LIST_CHARS = 8000;

const SPECS = {
  list_resources: {
    name: 'list_resources',
    title: 'List resources',
    description: 'Lists the resources of MCP servers and the templates for their addresses.',
    input: input({
      server: text('server', 'Only of this server.').optional(),
      filter: text('filter', 'Words that must all be in the name, address or type.').optional(),
    }),
  },
  read_resource: {
    name: 'read_resource',
    title: 'Read a resource',
    description:
      'Reads a resource that list_resources or the result of a tool names. Text is shown to you; files are saved beside the chat.',
    input: input({
      server: text('server', 'The server of the resource, for example the server of the tool that named it.'),
      uri: text('uri', 'Its address, or a template such as docs://{name} with arguments.', MAX_URI_CHARS),
      arguments: z
        .object({}, { error: 'arguments must be an object' })
        .catchall(
          z.union([z.string(), z.number(), z.boolean()], { error: 'arguments must contain plain values' }),
        )
        .describe('Values for the template.')
        .optional(),
    }),
  },
} as const;

export function isResourceTool(tool: string): tool is keyof typeof SPECS {
  return Object.hasOwn(SPECS, tool);
}

export function describeResourceTools(server: string): readonly ToolInfo[] {
  return Object.values(SPECS).map((spec) => ({
    server,
    tool: spec.name,
    title: spec.title,
    description: spec.description,
    inputSchema: inputSchema(spec),
    readOnly: true,
    readsReferences: true,
    needsResources: true,
    ...(spec.name === 'read_resource' ? { serverArgument: 'server' } : {}),
  }));
}

/** Throws a `CatalogRefusal` for invalid arguments. Rejects if the server does not answer. */
export async function answerResourceCall(
  { tool, args }: { readonly tool: keyof typeof SPECS; readonly args: unknown },
  access: ResourceAccess,
  options: ToolCallOptions,
): Promise<ToolResult> {
  return tool === 'list_resources' ? list(args, access, options) : read(args, access, options);
}

async function read(args: unknown, access: ResourceAccess, options: ToolCallOptions): Promise<ToolResult> {
  const { server, uri, arguments: values = {} } = readArguments(SPECS.read_resource, args);
  await checkServer(server, access, options);
  const address = fill(uri, values);
  const result = await access.host.readResource({ server, uri: address }, options);
  if (result.parts.length === 0) throw new CatalogRefusal(`The resource ${address} is empty.`);
  return result;
}

async function checkServer(
  server: string,
  { refusal }: ResourceAccess,
  { mayUse, chat }: ToolCallOptions,
): Promise<void> {
  if (mayUse?.(server) === false) {
    throw new CatalogRefusal(`This chat does not allow the server “${server}”.`);
  }
  const reason = await refusal?.(server, chat);
  if (reason !== undefined) throw new CatalogRefusal(reason);
}

function fill(template: string, values: Readonly<Record<string, unknown>>): string {
  try {
    return fillTemplate(template, values);
  } catch (error) {
    throw new CatalogRefusal(messageOf(error));
  }
}

async function list(args: unknown, access: ResourceAccess, options: ToolCallOptions): Promise<ToolResult> {
  const { server, filter = '' } = readArguments(SPECS.list_resources, args);
  if (server !== undefined) await checkServer(server, access, options);
  const known = server === undefined ? [...(await access.host.states()).keys()] : [server];
  const servers = known.filter((each) => options.mayUse?.(each) ?? true);
  const lists = await Promise.all(
    servers.map(async (each) => [each, await access.host.listResources(each, options.signal)] as const),
  );
  const words = filter.toLowerCase().split(/\s+/);
  return { isError: false, parts: [textPart(listText(lists, words))] };
}

/** One line per resource and template, below the name of its server. */
function listText(lists: readonly (readonly [string, ResourceList])[], words: readonly string[]): string {
  const lines: string[] = [];
  let [total, shown, chars] = [0, 0, 0];
  for (const [server, { resources, templates, failure }] of lists) {
    const matches = [...resources, ...templates].map(describe).filter((line) => matchesAll(line, words));
    total += matches.length;
    const kept = matches.filter((line, at) => {
      chars += line.length + 1;
      return chars <= MAX_LIST_CHARS || (at === 0 && shown === 0);
    });
    shown += kept.length;
    if (kept.length > 0) lines.push(`Server ${server}:`, ...kept);
    if (failure !== undefined) lines.push(`Note: server ${server}: ${visibleLine(failure)}`);
  }
  if (total === 0) return ['No matching resources.', ...lines].join('\n');
  const more = shown < total ? `${shown} of ${total} are shown. Use filter for the others.` : undefined;
  return [...lines, ...(more === undefined ? [] : [more])].join('\n');
}

function describe(info: ResourceInfo | TemplateInfo): string {
  const isTemplate = 'uriTemplate' in info;
  const name = visibleLine(info.title ?? info.name)
    .slice(0, MAX_NAME_CHARS)
    .toWellFormed();
  const size = isTemplate || info.size === undefined ? [] : [describeSize(info.size)];
  const facts = [...(isTemplate ? ['template'] : []), ...(info.mimeType ? [info.mimeType] : []), ...size];
  const about = facts.length === 0 ? '' : ` (${facts.join(', ')})`;
  return `- ${name}${about}: ${isTemplate ? info.uriTemplate : info.uri}`;
}

function matchesAll(line: string, words: readonly string[]): boolean {
  const lower = line.toLowerCase();
  return words.every((word) => lower.includes(word));
}
