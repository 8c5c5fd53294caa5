import { createHash } from 'node:crypto';
import { readDataUrl } from '../base/base64.ts';
import { decodeUtf8 } from '../base/lines.ts';
import { mediaByUri, typeName } from '../media/sniff.ts';
import { mediaByType, UNKNOWN } from '../media/table.ts';
import { bufferToBase64, checkSize, isBytes, type Limits, viewOf } from './base64.ts';
import { blockFor, detectMimeType, firstType, isTextual } from './mimeType.ts';
import { type Payload, readInput } from './payload.ts';
import type {
  AudioContent,
  BinaryContent,
  Bytes,
  ContentInput,
  ContentOptions,
  EmbeddedResource,
  EmbedOptions,
  ImageContent,
  ResourceContents,
  TextContents,
  ToolResultContent,
} from './types.ts';

/** An image block. The third parameter is short for the option `basePath`. */
export async function toImageContent(
  input: ContentInput,
  mimeTypeOrOptions?: string | ContentOptions,
  basePath?: string,
): Promise<ImageContent> {
  return { type: 'image', ...(await mediaData('image', input, readOptions(mimeTypeOrOptions, basePath))) };
}

export async function toAudioContent(
  input: ContentInput,
  mimeTypeOrOptions?: string | ContentOptions,
  basePath?: string,
): Promise<AudioContent> {
  return { type: 'audio', ...(await mediaData('audio', input, readOptions(mimeTypeOrOptions, basePath))) };
}

/** An unexpected type causes only a warning: the author may know more about it than the bytes tell. */
async function mediaData(type: 'image' | 'audio', input: ContentInput, options: ContentOptions) {
  const { mimeType, base64 } = await readInput(input, options);
  if (!mimeType.toLowerCase().startsWith(`${type}/`))
    options.onWarning?.(`Unsupported MIME type for ${type} content: ${mimeType}. It is sent as it is.`);
  return { data: base64(), mimeType };
}

/** Any bytes as a resource with `blob`. */
export async function toBinaryContent(
  input: ContentInput,
  mimeTypeOrOptions?: string | ContentOptions,
  basePath?: string,
): Promise<BinaryContent> {
  return binaryBlock(await readInput(input, readOptions(mimeTypeOrOptions, basePath)));
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

export function readOptions(given: string | ContentOptions | undefined, basePath?: string): ContentOptions {
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
  const named = firstType(mediaByUri(name) ?? UNKNOWN);
  return { uri, mimeType: mimeType || (isTextual(named) ? named : 'text/plain'), text };
}

/** The default URI is the same for the same bytes, and its scheme cannot be fetched. */
function uriOf({ uri, name, mimeType, bytes }: Pick<Payload, 'uri' | 'name' | 'mimeType' | 'bytes'>): string {
  if (uri) return uri;
  const digest = createHash('sha256').update(bytes()).digest('hex').slice(0, DIGEST_CHARS);
  return `content://sha256-${digest}/${encodeURIComponent((name || `file.${extensionOf(mimeType)}`).toWellFormed())}`;
}

const DIGEST_CHARS = 16;

function extensionOf(mimeType: string): string {
  return (mediaByType(typeName(mimeType) ?? '') ?? UNKNOWN).extension;
}

/** Text, bytes, or an object that is sent as JSON. */
export type ResourceInput = string | Bytes | object;

export type ResourceOptions = Limits & { uri: string; mimeType?: string | undefined };

/** One item of `contents` in the response to `resources/read`. */
export function toResourceContents(content: ResourceInput, options: ResourceOptions): ResourceContents {
  if (typeof content === 'string') return textContents(content, options);
  if (!isBytes(content))
    return textContents(JSON.stringify(content, null, 2), {
      ...options,
      mimeType: options.mimeType ?? JSON_TYPE,
    });
  const bytes = viewOf(content);
  if (bytes.byteLength > 0) checkSize(bytes.byteLength, options);
  const mimeType = detectMimeType(bytes, options.uri, options.mimeType);
  return contentsOf({ mimeType, base64: () => bufferToBase64(bytes), bytes: () => bytes }, options.uri);
}

const JSON_TYPE = 'application/json';

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
