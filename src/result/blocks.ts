import { isObject } from '../base/json.ts';
import type { ForAudience, LinkPart, ProblemPart, ResourceSource, TextPart } from '../ports/results.ts';

/**
 * What a server sent, judged block by block: one bad block costs itself and nothing else.
 * Nothing here is trusted, neither the types nor the lengths.
 */
export type Block = TextPart | LinkPart | ProblemPart | BytesBlock;

/** Bytes still in base64, or a placeholder for them, with all that was said about them. */
export interface BytesBlock extends ForAudience {
  readonly kind: 'bytes';
  readonly block: 'image' | 'audio' | 'file';
  readonly data: string;
  readonly declared?: string;
  readonly uri?: string;
}

export interface RawResult {
  readonly isError: boolean;
  readonly blocks: readonly Block[];
  readonly structured?: unknown;
}

/** The layer of the block types that MCP defines. */
export function readBlocks(result: unknown): RawResult {
  if (!isObject(result)) return { isError: true, blocks: [problem('The server answered with no result.')] };
  const { content, isError, structuredContent } = result;
  const blocks = Array.isArray(content)
    ? content.flatMap((block, at) => readBlock(block, at + 1).map(markAudience(block)))
    : content === undefined
      ? []
      : [problem('The content of the result is not a list of blocks.')];
  return {
    isError: isError === true,
    blocks,
    ...(structuredContent === undefined ? {} : { structured: structuredContent }),
  };
}

/** Annotated for the user and not for the model. */
function markAudience(block: unknown): (read: Block) => Block {
  const annotations = isObject(block) ? block['annotations'] : undefined;
  const audience = isObject(annotations) ? annotations['audience'] : undefined;
  const forUser = Array.isArray(audience) && audience.includes('user') && !audience.includes('assistant');
  return (read) => (forUser ? { ...read, audience: 'user' } : read);
}

const MAX_SHOWN_CHARS = 60;
const MAX_FIELD_CHARS = 2000;

function readBlock(block: unknown, position: number): readonly Block[] {
  if (!isObject(block)) return [problem(`Block ${position} of the result is not an object.`)];
  switch (block['type']) {
    case 'text':
      return [readText(block, position)];
    case 'image':
    case 'audio':
      return [readBytes(block, block['type'])];
    case 'resource':
      return readResource(block['resource'], position);
    case 'resource_link':
      return [readLink(block, position)];
    default:
      return [
        problem(
          `Block ${position} of the result has a type that Filechat does not know: ${shown(block['type'])}.`,
        ),
      ];
  }
}

function readText(block: Fields, position: number): Block {
  const { text } = block;
  if (typeof text !== 'string') return problem(`Text block ${position} of the result holds no text.`);
  return { kind: 'text', text: normalizeLines(text) };
}

function readBytes(block: Fields, kind: 'image' | 'audio'): Block {
  const { data, mimeType } = block;
  if (typeof data !== 'string') return problem(`The ${kind} could not be saved: it has no data.`);
  return { kind: 'bytes', block: kind, data, ...given('declared', mimeType) };
}

/** A resource may carry text, bytes or, against the rules, both; then both are kept. */
function readResource(resource: unknown, position: number): readonly Block[] {
  if (!isObject(resource)) return [problem(`Resource block ${position} of the result holds no resource.`)];
  const { uri, mimeType, text, blob } = resource;
  const blocks: Block[] = [];
  if (typeof text === 'string') {
    const source: ResourceSource = { uri: field(uri) || 'no address', ...given('mimeType', mimeType) };
    blocks.push({ kind: 'text', text: normalizeLines(text), source });
  }
  if (typeof blob === 'string') {
    blocks.push({
      kind: 'bytes',
      block: 'file',
      data: blob,
      ...given('declared', mimeType),
      ...given('uri', uri),
    });
  }
  if (blocks.length > 0) return blocks;
  return [problem(`The resource ${shown(uri)} has neither text nor data.`)];
}

function readLink(block: Fields, position: number): Block {
  const { uri, name, title, mimeType, size, description } = block;
  if (typeof uri !== 'string' || uri === '')
    return problem(`Resource link ${position} of the result has no address.`);
  return {
    kind: 'link',
    uri: field(uri),
    name: field(name) || field(title) || field(uri),
    ...given('mimeType', mimeType),
    ...(typeof size === 'number' && Number.isSafeInteger(size) && size >= 0 ? { size } : {}),
    ...given('description', description),
  };
}

type Fields = Readonly<Record<string, unknown>>;

function problem(message: string): ProblemPart {
  return { kind: 'problem', message };
}

/** An editor has one line ending for the whole document, so a text cannot keep its own. */
export function normalizeLines(text: string): string {
  return text.includes('\r\n') ? text.replaceAll('\r\n', '\n') : text;
}

function given<K extends string>(key: K, value: unknown): { readonly [P in K]?: string } {
  return (typeof value === 'string' && value !== '' ? { [key]: field(value) } : {}) as { [P in K]?: string };
}

/** Fields are shown on one line; one that is longer than any honest one is cut, and says so. */
function field(value: unknown): string {
  const text = typeof value === 'string' ? value.toWellFormed() : '';
  return text.length <= MAX_FIELD_CHARS
    ? text
    : `${text.slice(0, MAX_FIELD_CHARS)}… (${text.length} characters)`;
}

function shown(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'nothing');
  return `“${text.length > MAX_SHOWN_CHARS ? `${text.slice(0, MAX_SHOWN_CHARS)}…` : text}”`;
}

const MAX_NAME_CHARS = 80;

/** The last segment of a resource's URI, made safe to show as the text of a link. */
export function nameFromUri(uri: string | undefined): string | undefined {
  const path = uri
    ?.replace(/[?#].*$/s, '')
    // The host of a web address names no file; in a scheme of a server's own, `demo://report.pdf` does.
    .replace(/^https?:\/\/[^/]*/i, '')
    .replace(/^[a-z][a-z0-9+.-]*:/i, '');
  const segment = path?.split(/[/\\]/).findLast((each) => each !== '');
  return segment === undefined ? undefined : safeName(decode(segment));
}

/** Letters, digits and the few signs that mean nothing to Markdown; the rest becomes `_`. */
function safeName(text: string): string | undefined {
  const name = text
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N} ._()+,=@-]+/gu, '_')
    .replace(/\s+/g, ' ')
    .trim();
  const cut = Array.from(name).slice(0, MAX_NAME_CHARS).join('');
  return /[\p{L}\p{N}]/u.test(cut) ? cut : undefined;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
