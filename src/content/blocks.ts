import { createHash } from 'node:crypto';
import { readDataUrl } from '../base/base64.ts';
import { decodeUtf8 } from '../base/lines.ts';
import { detectMediaType, mediaByUri, sniffHead, typeName } from '../media/sniff.ts';
import { mediaByType, UNKNOWN } from '../media/table.ts';
import {
  base64Size,
  base64ToBuffer,
  blockFor,
  bufferToBase64,
  checkSize,
  checkType,
  dataUrlType,
  detectMimeType,
  isBytes,
  isCanonical,
  isTextual,
  type Limits,
  viewOf,
  warnOfType,
} from './bytes.ts';
import { isPathLike, readContentFile } from './files.ts';
import type {
  AudioContent,
  BinaryContent,
  Bytes,
  ContentInput,
  ContentOptions,
  DataInput,
  EmbeddedResource,
  EmbedOptions,
  ImageContent,
  ResourceContents,
  TextContents,
  ToolResultContent,
} from './types.ts';

/** The third parameter is short for the option `basePath`. */
type Given = [input: ContentInput, mimeTypeOrOptions?: string | ContentOptions, basePath?: string];

export async function toImageContent(...given: Given): Promise<ImageContent> {
  return { type: 'image', ...(await mediaData('image', given)) };
}

export async function toAudioContent(...given: Given): Promise<AudioContent> {
  return { type: 'audio', ...(await mediaData('audio', given)) };
}

/** An unexpected type causes only a warning: the author may know more about it than the bytes tell. */
async function mediaData(type: 'image' | 'audio', [input, mimeTypeOrOptions, basePath]: Given) {
  const options = readOptions(mimeTypeOrOptions, basePath);
  const { mimeType, base64 } = await readInput(input, options);
  if (!mimeType.toLowerCase().startsWith(`${type}/`))
    options.onWarning?.(`Unsupported MIME type for ${type} content: ${mimeType}. It is sent as it is.`);
  return { data: base64(), mimeType };
}

/** Any bytes as a resource with `blob`. */
export async function toBinaryContent(...[input, ...options]: Given): Promise<BinaryContent> {
  return binaryBlock(await readInput(input, readOptions(...options)));
}

/**
 * A resource with your own URI. A string is its text, unless it is a data: URL or the type is not textual: then it is
 * base64. Bytes of a textual type become text if they are UTF-8, otherwise a blob.
 */
export async function toEmbeddedResource(
  input: ContentInput,
  options: EmbedOptions,
): Promise<EmbeddedResource> {
  if (typeof input !== 'string') return resourceBlock(await readInput(input, options));
  if (isTextual(options.mimeType) && readDataUrl(input).mimeType === undefined)
    return { type: 'resource', resource: textContents(input, options) };
  return resourceBlock(await readInput({ type: 'binary', data: input }, options));
}

export function readOptions(given?: string | ContentOptions, basePath?: string): ContentOptions {
  const options = typeof given === 'string' ? { mimeType: given } : { ...given };
  return basePath === undefined ? options : { ...options, basePath };
}

export function suitableBlock(payload: Payload): ToolResultContent {
  const type = blockFor(payload.mimeType);
  if (type === 'resource') return resourceBlock(payload);
  return { type, data: payload.base64(), mimeType: payload.mimeType };
}

export function binaryBlock(payload: Payload): BinaryContent {
  const { mimeType } = payload;
  return { type: 'resource', resource: { uri: uriOf(payload), mimeType, blob: payload.base64() } };
}

function resourceBlock(payload: Payload): EmbeddedResource {
  return { type: 'resource', resource: contentsOf(payload, uriOf(payload)) };
}

function contentsOf(payload: Pick<Payload, 'mimeType' | 'base64' | 'bytes'>, uri: string): ResourceContents {
  const { mimeType } = payload;
  const text = isTextual(mimeType) ? decodeUtf8(payload.bytes()) : undefined;
  return text === undefined ? { uri, mimeType, blob: payload.base64() } : { uri, mimeType, text };
}

function textContents(text: string, { uri, mimeType, name = uri, ...limits }: EmbedOptions): TextContents {
  const size = Buffer.byteLength(text);
  if (size > 0) checkSize(size, limits);
  const [named] = (mediaByUri(name) ?? UNKNOWN).types;
  const type = mimeType || (isTextual(named) ? named : 'text/plain');
  checkType(type, limits);
  return { uri, mimeType: type, text };
}

/** The default URI is the same for the same bytes, and its scheme cannot be fetched. */
function uriOf({ uri, name, mimeType, bytes }: Pick<Payload, 'uri' | 'name' | 'mimeType' | 'bytes'>): string {
  if (uri) return uri;
  const digest = createHash('sha256').update(bytes()).digest('hex').slice(0, DIGEST_CHARS);
  const { extension } = mediaByType(typeName(mimeType) ?? '') ?? UNKNOWN;
  return `content://sha256-${digest}/${encodeURIComponent((name || `file.${extension}`).toWellFormed())}`;
}

const DIGEST_CHARS = 16;

/** Text, bytes, or an object that is sent as JSON. */
export type ResourceInput = string | Bytes | object;

export type ResourceOptions = Limits & { uri: string; mimeType?: string | undefined };

/** One item of `contents` in the response to `resources/read`. */
export function toResourceContents(content: ResourceInput, options: ResourceOptions): ResourceContents {
  if (typeof content === 'string') return textContents(content, options);
  if (!isBytes(content)) {
    const { mimeType = 'application/json' } = options;
    return textContents(JSON.stringify(content, null, 2), { ...options, mimeType });
  }
  const bytes = viewOf(content);
  if (bytes.byteLength > 0) checkSize(bytes.byteLength, options);
  const mimeType = detectMimeType(bytes, options.uri, options.mimeType);
  checkType(sniffHead(bytes, mediaByType(mimeType))?.types[0] ?? mimeType, options);
  return contentsOf({ mimeType, ...formsOf(bytes) }, options.uri);
}

/** The resources of a server, for `resources/read` and for its own tools. */
export class ResourceShelf {
  readonly #items = new Map<string, { readonly content: ResourceInput; readonly options: ResourceOptions }>();

  add(content: ResourceInput, options: ResourceOptions): this {
    this.#items.set(options.uri, { content, options });
    return this;
  }

  uris(): string[] {
    return [...this.#items.keys()];
  }

  read(uri: string): ResourceContents {
    const item = this.#items.get(uri);
    if (!item) throw new Error(`Resource not found: ${uri}`);
    return toResourceContents(item.content, item.options);
  }
}

interface Payload {
  readonly mimeType: string;
  readonly name?: string | undefined;
  readonly uri?: string | undefined;
  readonly base64: () => string;
  readonly bytes: () => Uint8Array;
}

export async function readInput(input: ContentInput, options: ContentOptions): Promise<Payload> {
  if (typeof input === 'string' && isPathLike(input)) return await ofFile(input, options);
  if (typeof input === 'string' || isBytes(input)) return await ofData(input, options);
  if (typeof input !== 'object' || input === null) throw new Error(NO_INPUT);
  const merged = withHint(options, input);
  return await (input.type === 'file' ? ofFile(input.path, merged) : ofData(input.data, merged));
}

const NO_INPUT =
  'Invalid result: give bytes, base64, a data: URL, the path of a file, or { type, data } or { type, path }.';

/** The properties of a hint take precedence over the options of the call. */
function withHint(
  options: ContentOptions,
  hint: Pick<ContentOptions, 'mimeType' | 'name' | 'uri'> & { filename?: string | undefined },
): ContentOptions {
  const { filename, mimeType = options.mimeType, uri = options.uri } = hint;
  const { name = filename ?? options.name } = hint;
  return { ...options, mimeType, name, uri };
}

/** In a hint, `data` is never a path. */
async function ofData(data: DataInput, options: ContentOptions): Promise<Payload> {
  if (typeof data === 'string') return await ofBase64(data, options);
  if (!isBytes(data)) throw new Error(NO_INPUT);
  const bytes = viewOf(data);
  checkSize(bytes.byteLength, options);
  return { ...(await describe(bytes, options)), ...formsOf(bytes) };
}

async function ofFile(path: string, options: ContentOptions): Promise<Payload> {
  if (typeof path !== 'string') throw new Error(NO_INPUT);
  const { bytes, name } = await readContentFile(path, options);
  return { ...(await describe(bytes, { ...options, name: options.name ?? name }, name)), ...formsOf(bytes) };
}

/** Decodes only the head of canonical base64, to detect its type. */
async function ofBase64(data: string, options: ContentOptions): Promise<Payload> {
  const { payload, isBase64 } = readDataUrl(data);
  const size = base64Size(data);
  if (size > 0 || payload.trim() === '') checkSize(size, options);
  const typed = { ...options, mimeType: options.mimeType || dataUrlType(data) };
  if (isBase64 && isCanonical(payload)) {
    const head = Buffer.from(payload.slice(0, HEAD_CHARS), 'base64');
    return { ...(await describe(head, typed)), base64: () => payload, bytes: () => base64ToBuffer(payload) };
  }
  const bytes = base64ToBuffer(data);
  return { ...(await describe(bytes, typed)), ...formsOf(bytes) };
}

/** About 64 KB as base64; a multiple of four. */
const HEAD_CHARS = 88_000;

function formsOf(bytes: Uint8Array): Pick<Payload, 'base64' | 'bytes'> {
  return { base64: () => bufferToBase64(bytes), bytes: () => bytes };
}

async function describe(
  bytes: Uint8Array,
  { mimeType, name, uri, onWarning, allowedTypes }: ContentOptions,
  fileName = name,
): Promise<Pick<Payload, 'mimeType' | 'name' | 'uri'>> {
  if (mimeType) warnOfType(mimeType, { onWarning });
  if (mimeType && !allowedTypes) return { mimeType, name, uri };
  const clues = { bytes, declared: mimeType, uri: fileName, block: 'file' } as const;
  const [detected] = (await detectMediaType(clues)).types;
  checkType(detected, { mimeType, allowedTypes });
  return { mimeType: mimeType || detected, name, uri };
}
