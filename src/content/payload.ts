import { decodeBase64, readDataUrl } from '../base/base64.ts';
import { detectMediaType } from '../media/sniff.ts';
import {
  base64Size,
  base64ToBuffer,
  bufferToBase64,
  checkSize,
  InvalidBase64,
  isBytes,
  isCanonical,
  viewOf,
} from './base64.ts';
import { isPathLike, readContentFile } from './files.ts';
import { dataUrlType, firstType, warnOfType } from './mimeType.ts';
import type { Bytes, ContentInput, ContentOptions, DataInput } from './types.ts';

export interface Payload {
  readonly mimeType: string;
  readonly name?: string | undefined;
  readonly uri?: string | undefined;
  readonly base64: () => string;
  readonly bytes: () => Uint8Array;
}

export async function readInput(input: ContentInput, options: ContentOptions): Promise<Payload> {
  if (isBytes(input)) return await ofBytes(input, options);
  if (typeof input === 'string')
    return await (isPathLike(input) ? ofFile(input, options) : ofBase64(input, options));
  if (typeof input !== 'object' || input === null) throw new Error(NO_INPUT);
  const merged = withHint(options, input);
  return await (input.type === 'file' ? ofFile(input.path, merged) : ofData(input.data, merged));
}

const NO_INPUT =
  'Invalid result: give bytes, base64, a data: URL, the path of a file, or { type, data } or { type, path }.';

/** The properties of a hint take precedence over the options of the call. */
function withHint(
  options: ContentOptions,
  hint: { mimeType?: string | undefined; name?: string | undefined; uri?: string | undefined },
): ContentOptions {
  const { mimeType = options.mimeType, name = options.name, uri = options.uri } = hint;
  return { ...options, mimeType, name, uri };
}

/** In a hint, `data` is never a path. */
async function ofData(data: DataInput, options: ContentOptions): Promise<Payload> {
  if (isBytes(data)) return await ofBytes(data, options);
  if (typeof data !== 'string') throw new Error(NO_INPUT);
  return await ofBase64(data, options);
}

async function ofBytes(input: Bytes, options: ContentOptions): Promise<Payload> {
  const bytes = viewOf(input);
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
  const decoded = decodeBase64(data);
  if (!decoded.ok) throw new InvalidBase64();
  return { ...(await describe(decoded.bytes, typed)), ...formsOf(decoded.bytes) };
}

/** About 64 KB as base64; a multiple of four. */
const HEAD_CHARS = 88_000;

function formsOf(bytes: Uint8Array): Pick<Payload, 'base64' | 'bytes'> {
  return { base64: () => bufferToBase64(bytes), bytes: () => bytes };
}

async function describe(
  bytes: Uint8Array,
  { mimeType, name, uri, onWarning }: ContentOptions,
  fileName = name,
): Promise<Pick<Payload, 'mimeType' | 'name' | 'uri'>> {
  if (mimeType) warnOfType(mimeType, { onWarning });
  const detect = async () => firstType(await detectMediaType({ bytes, uri: fileName, block: 'file' }));
  return { mimeType: mimeType || (await detect()), name, uri };
}
