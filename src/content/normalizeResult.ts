import { lstatSync } from 'node:fs';
import { isNativeError } from 'node:util/types';
import { readDataUrl } from '../base/base64.ts';
import { typeName } from '../media/sniff.ts';
import { UNKNOWN } from '../media/table.ts';
import { signedType } from '../result/findBase64.ts';
import {
  binaryBlock,
  readInput,
  readOptions,
  suitableBlock,
  toAudioContent,
  toImageContent,
} from './blocks.ts';
import { base64Size, InvalidBase64, isBytes } from './bytes.ts';
import { isPathLike, sanitizeFilePath } from './files.ts';
import type {
  AudioHint,
  BinaryHint,
  ContentOptions,
  DataInput,
  FileHint,
  ImageHint,
  TextContent,
  ToolResult,
  ToolResultContent,
} from './types.ts';

type Fields = Readonly<Record<string, unknown>>;

/**
 * Converts any return value of a tool into an MCP result. A string becomes text, unless it is a data: URL, the base64 of
 * a known format, or the path of a file in `basePath`. Without `basePath` no string is a path: a tool that echoes its
 * input must not expose files.
 */
export async function normalizeResult(
  result: unknown,
  options?: ContentOptions | string,
): Promise<ToolResult> {
  const given = typeof options === 'string' ? { basePath: options } : readOptions(options);
  const value = await settled(result);
  if (isNativeError(value)) return { content: [textBlock(value.message)], isError: true };
  if (!isFields(value) || isBytes(value)) return { content: await toBlocks(value, given) };
  if (Array.isArray(value['content']))
    return {
      ...value,
      content: await resultBlocks(await settled(value['content']), forEach(given)),
    } as ToolResult;
  if (isFields(value['structuredContent']))
    return { ...value, content: [textBlock(toJson(value['structuredContent']))] } as ToolResult;
  return { content: await toBlocks(value, given) };
}

/** Also awaits the items of a list: it is easy to forget `await` before the helpers. */
async function settled<T>(value: T | Promise<T>): Promise<Awaited<T>> {
  const given = await value;
  return Array.isArray(given) ? ((await Promise.all(given)) as Awaited<T>) : given;
}

/** Type, name and URI describe a single item, not each item of a list. */
function forEach({ basePath, maxBytes, onWarning, allowedTypes }: ContentOptions): ContentOptions {
  return { basePath, maxBytes, onWarning, allowedTypes };
}

async function toBlocks(value: unknown, options: ContentOptions): Promise<ToolResultContent[]> {
  if (!Array.isArray(value) || !isListOfContent(value)) return [await toBlock(value, options)];
  const blocks: ToolResultContent[] = [];
  // Sequential, so that only one large file at a time is in memory beside its base64.
  for (const item of value) blocks.push(await toBlock(item, forEach(options)));
  return blocks;
}

/** Blocks of unknown types in a whole result stay unchanged. */
async function resultBlocks(
  items: readonly unknown[],
  options: ContentOptions,
): Promise<ToolResultContent[]> {
  const blocks: ToolResultContent[] = [];
  for (const item of items) {
    const isForeign = isFields(item) && typeof item['type'] === 'string' && readKind(item) === undefined;
    blocks.push(isForeign ? (item as ToolResultContent) : await toBlock(item, options));
  }
  return blocks;
}

/** A list of numbers or records is data, and becomes one block. */
function isListOfContent(items: readonly unknown[]): boolean {
  const isContent = (item: unknown) => isBytes(item) || readKind(item) !== undefined;
  return items.length > 0 && (items.some(isContent) || items.every((item) => typeof item === 'string'));
}

async function toBlock(value: unknown, options: ContentOptions): Promise<ToolResultContent> {
  if (value === null || value === undefined)
    throw new Error('Invalid result: a tool must return something, and this one returned nothing.');
  if (typeof value === 'string') return await stringBlock(value, options);
  if (isBytes(value)) return suitableBlock(await readInput(value, options));
  const convert = BY_KIND[readKind(value) ?? 'other'];
  return await convert(value as Fields, options);
}

type Kind = 'media' | 'binary' | 'file' | 'resource' | 'block';

function readKind(value: unknown): Kind | undefined {
  if (!isFields(value) || typeof value['type'] !== 'string') return undefined;
  const [field, kind] = Object.hasOwn(FIELD_OF, value['type']) ? (FIELD_OF[value['type']] ?? []) : [];
  return field !== undefined && value[field] !== undefined ? kind : undefined;
}

const FIELD_OF: Readonly<Record<string, readonly [field: string, kind: Kind]>> = {
  image: ['data', 'media'],
  audio: ['data', 'media'],
  binary: ['data', 'binary'],
  file: ['path', 'file'],
  resource: ['resource', 'resource'],
  text: ['text', 'block'],
  resource_link: ['uri', 'block'],
};

type Convert = (value: Fields, options: ContentOptions) => Promise<ToolResultContent>;

const BY_KIND: Readonly<Record<Kind | 'other', Convert>> = {
  media: mediaBlock,
  binary: async (value, options) => ({
    ...metadataOf(value),
    ...binaryBlock(await readInput(value as BinaryHint, options)),
  }),
  file: async (value, options) => ({
    ...metadataOf(value),
    ...suitableBlock(await readInput(value as FileHint, options)),
  }),
  resource: embeddedBlock,
  block: async (value) => value as ToolResultContent,
  other: async (value) => textBlock(toJson(value)),
};

/** The properties of a hint that are passed on to the client. */
function metadataOf({ annotations, _meta }: Fields): Pick<TextContent, 'annotations' | '_meta'> {
  return { ...(isFields(annotations) && { annotations }), ...(isFields(_meta) && { _meta }) };
}

async function mediaBlock(value: Fields, options: ContentOptions): Promise<ToolResultContent> {
  const hint = value as ImageHint | AudioHint;
  const block = await (hint.type === 'image' ? toImageContent(hint, options) : toAudioContent(hint, options));
  return { ...value, ...block };
}

/** Encodes bytes, and rejects base64 that clients would not accept. */
async function embeddedBlock(value: Fields, options: ContentOptions): Promise<ToolResultContent> {
  const resource = value['resource'];
  if (!isFields(resource) || resource['blob'] === undefined) return value as ToolResultContent;
  const { uri, mimeType, blob } = resource as { uri?: string; mimeType?: string; blob: DataInput };
  const made = binaryBlock(await readInput({ type: 'binary', data: blob, uri, mimeType }, options)).resource;
  return { ...value, resource: { ...resource, ...made } } as ToolResultContent;
}

async function stringBlock(text: string, options: ContentOptions): Promise<ToolResultContent> {
  if (isDataUrl(text) || (await beginsSigned(text))) return await bytesOrText(text, options);
  if (options.basePath !== undefined && isFileBelow(options.basePath, text))
    return suitableBlock(await readInput({ type: 'file', path: text }, options));
  return textBlock(text);
}

/** A string that only begins like base64 is text. Base64 may have line breaks but no spaces. */
async function bytesOrText(text: string, options: ContentOptions): Promise<ToolResultContent> {
  const data = text.trim();
  if (/[ \t]/.test(data)) return textBlock(text);
  try {
    return suitableBlock(await readInput({ type: 'binary', data }, options));
  } catch (error) {
    if (error instanceof InvalidBase64) return textBlock(text);
    throw error;
  }
}

/** Prose may begin with `data:` too, and contain a comma. */
function isDataUrl(text: string): boolean {
  const { mimeType, payload } = readDataUrl(text);
  return mimeType !== undefined && payload !== '' && (mimeType === '' || typeName(mimeType) !== undefined);
}

const HEAD_CHARS = 8192;

async function beginsSigned(text: string): Promise<boolean> {
  const head = text.slice(0, HEAD_CHARS).trim();
  if (NOT_IN_LINES.test(head)) return false;
  const signed = await signedType(head.replace(/\s+/g, ''), base64Size(text));
  return signed !== undefined && signed !== UNKNOWN;
}

const NOT_IN_LINES = /[^A-Za-z0-9+/=_\r\n-]/;

function isFileBelow(folder: string, text: string): boolean {
  if (!isPathLike(text)) return false;
  try {
    return lstatSync(sanitizeFilePath(text, folder)).isFile();
  } catch {
    return false;
  }
}

function textBlock(text: string): TextContent {
  return { type: 'text', text };
}

function toJson(value: unknown): string {
  const json = writeJson(value);
  if (json === undefined) throw new Error(`Invalid result: a ${typeof value} cannot be sent.`);
  return json;
}

function writeJson(value: unknown): string | undefined {
  try {
    return JSON.stringify(value, refuseBytes, 2);
  } catch (error) {
    if (error instanceof BytesWithin) throw error;
    throw new Error('Invalid result: it cannot be written as JSON.', { cause: error });
  }
}

/** JSON.stringify would write bytes as a list of numbers. */
function refuseBytes(this: unknown, key: string, value: unknown): unknown {
  const given = (this as Fields)[key];
  if (isBytes(given) || ArrayBuffer.isView(given) || given instanceof Blob) throw new BytesWithin();
  return value;
}

class BytesWithin extends Error {
  constructor() {
    super(
      'Invalid result: there are bytes among other data. Return them as a Buffer of their own, or as base64.',
    );
  }
}

function isFields(value: unknown): value is Fields {
  return typeof value === 'object' && value !== null;
}
