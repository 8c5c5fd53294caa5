import { isAnyArrayBuffer, isUint8Array } from 'node:util/types';
import { decodeBase64, encodeBase64, isBase64, readDataUrl } from '../base/base64.ts';
import { judgeMediaType } from '../media/sniff.ts';
import { isPathLike, readContentFile } from './files.ts';
import { dataUrlType, firstType, warnOfType } from './mimeType.ts';
import type { Bytes, ContentInput, ContentOptions, DataInput } from './types.ts';

/** What is to be sent, whatever form it came in. Neither form is made before somebody asks for it. */
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
  const said = withHint(options, input);
  return await (input.type === 'file' ? ofFile(input.path, said) : ofData(input.data, said));
}

const NO_INPUT =
  'Invalid result: give bytes, base64, a data: URL, the path of a file, or { type, data } or { type, path }.';

/** What stands beside the data is nearer to it than what was said for the whole call. */
function withHint(
  options: ContentOptions,
  hint: { mimeType?: string | undefined; name?: string | undefined; uri?: string | undefined },
): ContentOptions {
  const { mimeType = options.mimeType, name = options.name, uri = options.uri } = hint;
  return { ...options, mimeType, name, uri };
}

/** In a hint no string is a path but that of a file. */
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

/** Base64 that is good as it stands is never decoded as a whole, only its head to see what it is. */
async function ofBase64(data: string, options: ContentOptions): Promise<Payload> {
  const { payload, isBase64 } = readDataUrl(data);
  const size = base64Size(data);
  if (size > 0 || payload.trim() === '') checkSize(size, options);
  const said = { ...options, mimeType: options.mimeType || dataUrlType(data) };
  if (isBase64 && isCanonical(payload)) {
    const head = Buffer.from(payload.slice(0, HEAD_CHARS), 'base64');
    return { ...(await describe(head, said)), base64: () => payload, bytes: () => base64ToBuffer(payload) };
  }
  const decoded = decodeBase64(data);
  if (!decoded.ok) throw new InvalidBase64();
  return { ...(await describe(decoded.bytes, said)), ...formsOf(decoded.bytes) };
}

/** About as much as is looked at of a file, as base64: a multiple of four. */
const HEAD_CHARS = 88_000;

function formsOf(bytes: Uint8Array): Pick<Payload, 'base64' | 'bytes'> {
  return { base64: () => bufferToBase64(bytes), bytes: () => bytes };
}

/** The author's word; without it what the bytes say, and then the name. */
async function describe(
  bytes: Uint8Array,
  { mimeType, name, uri, onWarning }: ContentOptions,
  fileName = name,
): Promise<Pick<Payload, 'mimeType' | 'name' | 'uri'>> {
  if (mimeType) warnOfType(mimeType, { onWarning });
  const detect = async () => firstType(await judgeMediaType({ bytes, uri: fileName, block: 'file' }));
  return { mimeType: mimeType || (await detect()), name, uri };
}

/** Plain base64 with padding, as MCP has it. */
export function bufferToBase64(bytes: Bytes): string {
  return encodeBase64(viewOf(bytes));
}

/** Takes every form that `validateBase64` takes. */
export function base64ToBuffer(data: string): Buffer {
  const decoded = decodeBase64(data);
  if (!decoded.ok) throw new InvalidBase64();
  const { buffer, byteOffset, byteLength } = decoded.bytes;
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** Whether a string decodes: plain or URL-safe, with or without padding, in lines, or as a data: URL. */
export function validateBase64(data: string): boolean {
  return typeof data === 'string' && isBase64(data);
}

export class InvalidBase64 extends Error {
  constructor() {
    super(
      'Invalid base64 data: String contains invalid characters. Ensure the data is properly base64-encoded.',
    );
  }
}

/** Also for bytes of another realm, such as those that a test runner hands out. */
export function isBytes(value: unknown): value is Bytes {
  return isUint8Array(value) || isAnyArrayBuffer(value);
}

/** A view of the same memory, in this realm. */
export function viewOf(bytes: Bytes): Buffer {
  if (!isUint8Array(bytes)) return Buffer.from(bytes);
  const { buffer, byteOffset, byteLength } = bytes;
  return Buffer.from(buffer, byteOffset, byteLength);
}

/** A multiple of four, so that each piece can be decoded alone. */
const PIECE_CHARS = 1024 * 1024;

/**
 * Base64 that is as MCP has it, and so need not be decoded to be sent: what comes out when it is decoded and encoded
 * again, which is far faster than to look at each of its digits.
 */
export function isCanonical(data: string): boolean {
  const padding = data.indexOf('=');
  if (data.length % 4 !== 0 || (padding >= 0 && padding < data.length - 2)) return false;
  for (let at = 0; at < data.length; at += PIECE_CHARS) {
    const piece = data.slice(at, at + PIECE_CHARS);
    if (Buffer.from(piece, 'base64').toString('base64') !== piece) return false;
  }
  return true;
}

function withoutPadding(digits: string): string {
  const padding = digits.endsWith('==') ? 2 : digits.endsWith('=') ? 1 : 0;
  return digits.slice(0, digits.length - padding);
}

/** How many bytes a string holds, from its length alone where it is not broken into lines. */
export function base64Size(data: string): number {
  const { payload, isBase64: isEncoded } = readDataUrl(data);
  if (!isEncoded) return Buffer.byteLength(payload) - 2 * (payload.match(/%[0-9a-f]{2}/gi)?.length ?? 0);
  const digits = /\s/.test(payload) ? payload.replace(/\s+/g, '') : payload;
  return Math.floor((withoutPadding(digits).length * 3) / 4);
}

/** Above this there is a warning: many clients do not take longer messages. */
export const MAX_SAFE_SIZE: number = 10 * 1024 * 1024;
/** Above this there is an error, unless `maxBytes` says otherwise. */
export const MAX_SIZE: number = 50 * 1024 * 1024;

export type Limits = Pick<ContentOptions, 'maxBytes' | 'onWarning'>;

/** Asked with the size alone, before anything is read, decoded or encoded. */
export function checkSize(byteCount: number, { maxBytes = MAX_SIZE, onWarning }: Limits): void {
  if (byteCount === 0) throw new Error('Cannot convert empty buffer: there is nothing in it to send.');
  if (byteCount > maxBytes)
    throw new Error(
      `File too large: ${byteCount} bytes (max: ${maxBytes}). Consider reducing image quality or splitting into smaller files.`,
    );
  if (byteCount > MAX_SAFE_SIZE)
    onWarning?.(`Large file detected: ${byteCount} bytes. Consider streaming or chunking.`);
}
