import { readDataUrl } from '../base/base64.ts';
import { contentsOf, textContents, uriOf } from './contents.ts';
import { blockFor, isTextual } from './mimeType.ts';
import { type Payload, readInput } from './payload.ts';
import type {
  AudioContent,
  BinaryContent,
  ContentInput,
  ContentOptions,
  EmbeddedResource,
  EmbedOptions,
  ImageContent,
  ToolResultContent,
} from './types.ts';

/** A picture. The third parameter is short for `basePath` among the options. */
export async function toImageContent(
  input: ContentInput,
  mimeTypeOrOptions?: string | ContentOptions,
  basePath?: string,
): Promise<ImageContent> {
  const options = readOptions(mimeTypeOrOptions, basePath);
  const payload = await readInput(input, options);
  warnOfBlock('image', payload, options);
  return { type: 'image', data: payload.base64(), mimeType: payload.mimeType };
}

export async function toAudioContent(
  input: ContentInput,
  mimeTypeOrOptions?: string | ContentOptions,
  basePath?: string,
): Promise<AudioContent> {
  const options = readOptions(mimeTypeOrOptions, basePath);
  const payload = await readInput(input, options);
  warnOfBlock('audio', payload, options);
  return { type: 'audio', data: payload.base64(), mimeType: payload.mimeType };
}

/** Any bytes, as a resource with `blob`. */
export async function toBinaryContent(
  input: ContentInput,
  mimeTypeOrOptions?: string | ContentOptions,
  basePath?: string,
): Promise<BinaryContent> {
  return binaryBlock(await readInput(input, readOptions(mimeTypeOrOptions, basePath)));
}

/**
 * A resource in a result, under an address of its own. A string is its text, unless it is a data: URL or the type
 * says that it is no text: then it is base64. Bytes of a textual type go as text if they are UTF-8, else as blob.
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

/** The block that suits the type. */
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

/** It is sent all the same: who calls for a picture may know more than the bytes tell. */
function warnOfBlock(type: 'image' | 'audio', { mimeType }: Payload, { onWarning }: ContentOptions): void {
  if (!mimeType.toLowerCase().startsWith(`${type}/`))
    onWarning?.(`Unsupported MIME type for ${type} content: ${mimeType}. It is sent as it is.`);
}
