import { decodeBase64 } from '../../base/base64.ts';
import { defined, field } from '../../base/json.ts';
import { describeSize } from '../../base/size.ts';
import type {
  PromptArgument,
  PromptInfo,
  ResourceContents,
  ResourceInfo,
  TemplateInfo,
} from '../../ports/servers.ts';
import type { ToolInfo } from '../../ports/tools.ts';
import { readToolApp } from '../apps/app.ts';
import { scanParamHeaders } from '../pool/paramHeaders.ts';
import { schemaProblem } from '../schema/schemaLimits.ts';
import {
  type Collected,
  collectPages,
  MAX_TITLE_CHARS,
  type PageRequest,
  pickIcon,
  readName,
  readTexts,
  shorten,
} from './pages.ts';

/** With `paramHeaders`, arguments are also sent as headers: a tool that declares them incorrectly must not be called. */
export function collectTools(
  server: string,
  request: PageRequest,
  { paramHeaders = false } = {},
): Promise<Collected<ToolInfo>> {
  const read = (definition: unknown) => readTool(server, definition, paramHeaders);
  return collectPages({ one: 'tool', read, key: ({ tool }) => tool }, request);
}

/** The tool, or the problem with its definition. */
function readTool(server: string, definition: unknown, paramHeaders: boolean): ToolInfo | string {
  const named = readName(definition);
  if (typeof named === 'string') return named;
  const inputSchema = field(definition, 'inputSchema') ?? { type: 'object' };
  const outputSchema = field(definition, 'outputSchema') ?? undefined;
  const [input, output] = [inputProblem(inputSchema, paramHeaders), schemaProblem(outputSchema)];
  const unusable = `${JSON.stringify(named.name)} cannot be used, because its`;
  if (input !== undefined) return `${unusable} input schema ${input}`;
  if (output !== undefined) return `${unusable} output schema ${output}`;
  return {
    server,
    tool: named.name,
    ...readTexts(definition),
    inputSchema,
    ...defined({ outputSchema, icon: pickIcon(field(definition, 'icons')) }),
    ...readHints(definition),
    ...readToolApp(definition),
  };
}

function inputProblem(schema: unknown, paramHeaders: boolean): string | undefined {
  if (typeof schema !== 'object' || Array.isArray(schema)) return 'is not an object';
  const problem = schemaProblem(schema);
  if (problem !== undefined) return problem;
  const scan = paramHeaders ? scanParamHeaders(schema) : undefined;
  return scan?.ok === false ? scan.reason : undefined;
}

function readHints(definition: unknown): Pick<ToolInfo, 'readOnly' | 'destructive' | 'task'> {
  const annotations = field(definition, 'annotations');
  const task = field(field(definition, 'execution'), 'taskSupport');
  const flag = (value: unknown) => (typeof value === 'boolean' ? value : undefined);
  return defined({
    readOnly: flag(field(annotations, 'readOnlyHint')),
    destructive: flag(field(annotations, 'destructiveHint')),
    task: task === 'required' || task === 'optional' ? task : undefined,
  });
}

const MAX_URI_CHARS = 8 * 1024;
const MAX_ARGUMENTS = 100;
const MIME_TYPE = /^[\w!#$&^.+-]{1,127}\/[\w!#$&^.+-]{1,127}(?:\s*;[\x20-\x7e]{0,200})?$/;
/** Without invisible characters and line breaks. */
const ADDRESS = /^[^\p{C}\p{Zl}\p{Zp}]+$/u;

/** Sorted by priority; otherwise in the order of the server. */
export async function collectResources(
  server: string,
  request: PageRequest,
): Promise<Collected<ResourceInfo>> {
  const read = (definition: unknown) => readResource(server, definition);
  const collected = await collectPages({ one: 'resource', read, key: ({ uri }) => uri }, request);
  const priorityOf = ({ priority = DEFAULT_PRIORITY }: ResourceInfo) => priority;
  return { ...collected, items: collected.items.toSorted((a, b) => priorityOf(b) - priorityOf(a)) };
}

const DEFAULT_PRIORITY = 0.5;

export function collectTemplates(server: string, request: PageRequest): Promise<Collected<TemplateInfo>> {
  const read = (definition: unknown) => readTemplate(server, definition);
  return collectPages({ one: 'template', read, key: ({ uriTemplate }) => uriTemplate }, request);
}

export function collectPrompts(server: string, request: PageRequest): Promise<Collected<PromptInfo>> {
  const read = (definition: unknown) => readPrompt(server, definition);
  return collectPages({ one: 'prompt', read, key: ({ prompt }) => prompt }, request);
}

/** The user is asked before a larger resource is read. */
const LARGE_BYTES = 1024 * 1024;

function readResource(server: string, definition: unknown): ResourceInfo | string {
  const uri = field(definition, 'uri');
  if (!isAddress(uri)) return addressProblem(uri);
  const said = field(definition, 'size');
  const size = Number.isSafeInteger(said) && Number(said) >= 0 ? Number(said) : undefined;
  const meta = field(definition, '_meta');
  const ui = field(meta, 'ui');
  const isLarge = field(meta, 'largeFileWarning') === true || (size ?? 0) > LARGE_BYTES;
  const priority = field(field(definition, 'annotations'), 'priority');
  return {
    server,
    uri,
    ...readAbout(definition, uri),
    ...defined({
      size,
      isLarge: isLarge || undefined,
      priority: typeof priority === 'number' && priority >= 0 && priority <= 1 ? priority : undefined,
      meta: ui === undefined ? undefined : { ui },
      icon: pickIcon(field(definition, 'icons')),
    }),
  };
}

function readTemplate(server: string, definition: unknown): TemplateInfo | string {
  const uriTemplate = field(definition, 'uriTemplate');
  if (!isAddress(uriTemplate)) return addressProblem(uriTemplate);
  return { server, uriTemplate, ...readAbout(definition, uriTemplate) };
}

function readPrompt(server: string, definition: unknown): PromptInfo | string {
  const named = readName(definition);
  if (typeof named === 'string') return named;
  const listed = field(definition, 'arguments') ?? [];
  if (!Array.isArray(listed) || listed.length > MAX_ARGUMENTS) {
    return `the arguments of ${JSON.stringify(named.name)} are not a list, or there are more than ${MAX_ARGUMENTS}`;
  }
  const read = new Map<string, PromptArgument>();
  for (const each of listed) {
    const argument = readName(each);
    if (typeof argument === 'string') return `of an argument of ${JSON.stringify(named.name)}, ${argument}`;
    const required = field(each, 'required') === true;
    if (!read.has(argument.name)) read.set(argument.name, { ...argument, ...readTexts(each), required });
  }
  return {
    server,
    prompt: named.name,
    ...readTexts(definition),
    arguments: [...read.values()],
    ...defined({ icon: pickIcon(field(definition, 'icons')) }),
  };
}

/** The address replaces a missing name. */
function readAbout(definition: unknown, address: string): Omit<ResourceInfo, 'server' | 'uri'> {
  const name = field(definition, 'name');
  const mimeType = field(definition, 'mimeType');
  return {
    name: shorten(typeof name === 'string' && name.trim() !== '' ? name : address, MAX_TITLE_CHARS),
    ...readTexts(definition),
    ...(typeof mimeType === 'string' && MIME_TYPE.test(mimeType) ? { mimeType } : {}),
  };
}

function isAddress(uri: unknown): uri is string {
  return typeof uri === 'string' && uri.length <= MAX_URI_CHARS && ADDRESS.test(uri);
}

function addressProblem(uri: unknown): string {
  return typeof uri === 'string'
    ? `its address ${JSON.stringify(uri.slice(0, 100))} is empty, too long, or has invisible characters`
    : 'it has no address';
}

/** Throws with a message for the user. */
export function readContents(result: unknown, maxBytes: number): readonly ResourceContents[] {
  const contents = field(result, 'contents');
  if (!Array.isArray(contents)) throw new Error('The response of the server has no contents.');
  let bytes = 0;
  return contents.map((item: unknown) => {
    const read = readItem(item);
    bytes += read.data.length;
    if (bytes > maxBytes) throw new Error(`The resource is larger than ${describeSize(maxBytes)}.`);
    return read;
  });
}

function readItem(item: unknown): ResourceContents {
  const [uri, mimeType, text, blob] = ['uri', 'mimeType', 'text', 'blob'].map((key) => {
    const value = field(item, key);
    return typeof value === 'string' ? value : undefined;
  });
  const about = { uri: uri ?? '', ...defined({ mimeType, meta: field(item, '_meta') }) };
  if (text !== undefined) return { ...about, data: text };
  if (blob === undefined) throw new Error('The response of the server has neither text nor bytes.');
  const decoded = decodeBase64(blob);
  if (!decoded.ok) throw new Error(`The bytes of the resource are invalid: ${decoded.reason}.`);
  return { ...about, data: decoded.bytes };
}
