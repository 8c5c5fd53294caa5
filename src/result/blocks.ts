import { readDataUrl } from '../base/base64.ts';
import { defined, field, isObject, mapStrings } from '../base/json.ts';
import { withoutTerminalSequences } from '../base/lines.ts';
import { decodePercent } from '../chat/format/escapeMarkers.ts';
import { detectMarkup, isSvgType } from '../media/sniff.ts';
import type { DataPart, ForAudience, LinkPart, ProblemPart, TextPart, ToolResult } from '../ports/results.ts';

export type Block = TextPart | LinkPart | DataPart | ProblemPart | BytesBlock;

export interface BytesBlock extends ForAudience {
  readonly kind: 'bytes';
  readonly block: 'image' | 'audio' | 'file';
  /** Base64, or the placeholder of a spilled string. */
  readonly data: string;
  readonly declared?: string;
  readonly uri?: string;
  /** The name beside the bytes, sanitized. */
  readonly name?: string;
}

export interface RawResult {
  readonly isError: boolean;
  readonly blocks: readonly Block[];
  readonly structured?: unknown;
}

/** Validates an untrusted result block by block: an invalid block becomes a problem and does not affect the others. */
export function readBlocks(result: unknown): RawResult {
  if (!isObject(result)) return { isError: true, blocks: [problem('The server returned no result.')] };
  const { content, isError, structuredContent } = result;
  const blocks = Array.isArray(content)
    ? content.flatMap((block, at) => readBlock(block, at + 1).map(markAudience(block)))
    : content === undefined
      ? []
      : unusable('The content of the result is not a list of blocks.', content);
  return { isError: isError === true, blocks, ...defined({ structured: structuredContent }) };
}

function markAudience(block: unknown): (read: Block) => Block {
  const audience = field(field(block, 'annotations'), 'audience');
  const forUser = Array.isArray(audience) && audience.includes('user') && !audience.includes('assistant');
  return (read) => (forUser ? { ...read, audience: 'user' } : read);
}

const MAX_SHOWN_CHARS = 60;
const MAX_FIELD_CHARS = 2000;

function readBlock(block: unknown, position: number): readonly Block[] {
  if (!isObject(block)) return unusable(`Block ${position} of the result is not an object.`, block);
  switch (block['type']) {
    case 'text':
      return readText(block, position);
    case 'image':
    case 'audio':
      return readBytes(block, block['type']);
    case 'resource':
      return readResource(block, position);
    case 'resource_link':
      return [readLink(block, position)];
    default:
      return readUnknown(block, position);
  }
}

const BYTES_KEYS = ['data', 'blob'];
const TYPE_KEYS = ['mimeType', 'mime_type', 'mediaType', 'media_type', 'contentType', 'content_type'];
const NAME_KEYS = ['filename', 'fileName', 'name'];

/** Whether all fields of a block are known. Those of other blocks are shown as JSON. */
export function isKnownBlock(block: unknown): boolean {
  const type = field(block, 'type');
  return ['text', 'image', 'audio', 'resource', 'resource_link'].some((each) => each === type);
}

/** The fields of an unknown block that are read as text. */
export const READ_FIELDS: ReadonlySet<string> = new Set(['type', ...TYPE_KEYS, ...NAME_KEYS]);

/** Some tools return blocks as a provider of models has them, with the content in other fields. */
function otherFields(block: Fields): Fields | undefined {
  const others = Object.entries(block).filter(([key, value]) => !ABOUT_FIELDS.has(key) && value != null);
  return others.length > 0 ? Object.fromEntries(others) : undefined;
}

const ABOUT_FIELDS: ReadonlySet<string> = new Set([...READ_FIELDS, 'annotations', '_meta']);

/** The bytes of a block that declares their type, and its other fields as JSON. */
function readUnknown(block: Fields, position: number): readonly Block[] {
  const { type } = block;
  const key = BYTES_KEYS.find((each) => areBytes(block[each]));
  const declared = TYPE_KEYS.map((each) => shortText(block[each])).find((each) => each !== undefined);
  if (key === undefined || declared === undefined) {
    const message = `Block ${position} of the result has an unknown type: ${shown(type)}.`;
    const { type: _, ...rest } = block;
    return unusable(message, Object.keys(rest).length > 0 ? block : undefined);
  }
  const { [key]: data, ...others } = block;
  const bytes: Block = {
    kind: 'bytes',
    block: 'file',
    data: String(data),
    declared,
    ...defined({ name: nameBeside(block) }),
  };
  if (type === 'binary' && Object.keys(others).every((each) => READ_FIELDS.has(each))) return [bytes];
  return [bytes, asJson(others)];
}

/** The beginning of what takes the place of a long string of base64. */
export const PLACEHOLDER_HEAD = 'filechat-spill:';

/** Base64 may have line breaks, but no spaces. Text may have both. */
const NOT_IN_BASE64 = /[^\w+/=\r\n-]/;

/** Base64, also if it is damaged, or a data: URL. */
function areBytes(value: unknown): boolean {
  if (typeof value !== 'string') return false;
  if (value.startsWith(PLACEHOLDER_HEAD) || !NOT_IN_BASE64.test(value)) return true;
  return readDataUrl(value).mimeType !== undefined;
}

/** What is wrong with a value, and the value itself, in which bytes are found as in all JSON. */
function unusable(message: string, value: unknown): readonly Block[] {
  return value === undefined || value === null ? [problem(message)] : [problem(message), asJson(value)];
}

function asJson(value: unknown): DataPart {
  // Cuts values that are nested too deeply to be written.
  const shallow = mapStrings(value, (text) => text);
  return { kind: 'data', json: JSON.stringify(shallow, null, 2) };
}

function readText({ text }: Fields, position: number): readonly Block[] {
  if (typeof text === 'string') return [{ kind: 'text', text: cleanText(text) }];
  return unusable(`Text block ${position} of the result contains no text.`, text);
}

function readBytes(block: Fields, kind: 'image' | 'audio'): readonly Block[] {
  const { data, mimeType } = block;
  if (typeof data !== 'string') {
    return unusable(`The ${kind} could not be saved: it has no data.`, otherFields(block));
  }
  const about = defined({ declared: shortText(mimeType), name: nameBeside(block) });
  return [{ kind: 'bytes', block: kind, data: isSvg(data, mimeType) ? toBase64(data) : data, ...about }];
}

function toBase64(text: string): string {
  return Buffer.from(text).toString('base64');
}

/** A resource with both text and bytes violates the protocol, but both are kept. */
function readResource(block: Fields, position: number): readonly Block[] {
  const { resource } = block;
  if (!isObject(resource))
    return unusable(`Resource block ${position} of the result contains no resource.`, otherFields(block));
  const { uri, mimeType, text, blob: bytes } = resource;
  const blocks: Block[] = [];
  // An image that is sent as text is shown as an image.
  const isImage = typeof text === 'string' && bytes === undefined && isSvg(text, mimeType);
  const blob = isImage ? toBase64(text) : bytes;
  if (typeof text === 'string' && !isImage) {
    const source = { uri: shortText(uri) ?? 'no address', ...defined({ mimeType: shortText(mimeType) }) };
    blocks.push({ kind: 'text', text: cleanText(text), source });
  }
  if (typeof blob === 'string') {
    const about = defined({
      declared: shortText(mimeType),
      uri: shortText(uri),
      name: nameBeside(resource),
    });
    blocks.push({ kind: 'bytes', block: 'file', data: blob, ...about });
  }
  if (blocks.length > 0) return blocks;
  return [problem(`The resource ${shown(uri)} has neither text nor data.`)];
}

function isSvg(text: string, type: unknown): boolean {
  return typeof type === 'string' && isSvgType(type) && detectMarkup(text)?.extension === 'svg';
}

function readLink(block: Fields, position: number): Block {
  const uri = shortText(block['uri']);
  if (uri === undefined) return problem(`Resource link ${position} of the result has no address.`);
  const { name, title, mimeType, size, description } = block;
  const about = defined({
    mimeType: shortText(mimeType),
    size: typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? size : undefined,
    description: shortText(description),
  });
  return { kind: 'link', uri, name: shortText(name) ?? shortText(title) ?? uri, ...about };
}

type Fields = Readonly<Record<string, unknown>>;

export function problem(message: string): ProblemPart {
  return { kind: 'problem', message };
}

/** The first problem of a result that consists of problems. */
export function failureOf({ parts, failure }: Pick<ToolResult, 'parts' | 'failure'>): string | undefined {
  const [first] = parts;
  if (failure !== undefined || first?.kind !== 'problem') return failure;
  return parts.every(({ kind }) => kind === 'problem') ? first.message : undefined;
}

/** A document in the editor has a single kind of line ending and does not render terminal codes. */
export function cleanText(text: string): string {
  return withoutTerminalSequences(text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text);
}

/** Cuts a field that is unreasonably long; undefined if it is empty or not a string. */
function shortText(value: unknown): string | undefined {
  if (typeof value !== 'string' || value === '') return undefined;
  const text = value.toWellFormed();
  return text.length <= MAX_FIELD_CHARS
    ? text
    : `${text.slice(0, MAX_FIELD_CHARS)}… (${text.length} characters)`;
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return `“${text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text}”`;
}

const MAX_NAME_CHARS = 80;

/** The last segment of a URI, made safe for the text of a link. */
export function nameFromUri(uri: string | undefined): string | undefined {
  if (/^data:/i.test(uri ?? '')) return undefined;
  const path = uri
    ?.replace(/[?#].*$/s, '')
    // The host of a web address is not a file name; in other schemes it may be: `demo://report.pdf`.
    .replace(/^https?:\/\/[^/]*/i, '')
    .replace(/^[a-z][a-z0-9+.-]*:/i, '');
  const segment = lastSegment(path ?? '');
  return segment === undefined ? undefined : safeName(decodePercent(segment));
}

/** The name of a file that its owner in JSON declares, made safe for the text of a link. */
export function nameBeside(owner: unknown): string | undefined {
  const name = NAME_KEYS.map((key) => field(owner, key)).find((each) => typeof each === 'string');
  const segment = typeof name === 'string' ? lastSegment(name.slice(0, MAX_FIELD_CHARS)) : undefined;
  return segment === undefined ? undefined : safeName(segment.toWellFormed());
}

function lastSegment(path: string): string | undefined {
  return path.split(/[/\\]/).findLast((each) => each !== '');
}

function safeName(text: string): string | undefined {
  const name = text
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N} ._()+,=@-]+/gu, '_')
    .replace(/\s+/g, ' ')
    .trim();
  const cut = Array.from(name).slice(0, MAX_NAME_CHARS).join('');
  return /[\p{L}\p{N}]/u.test(cut) ? cut : undefined;
}
