import { eachLine } from '../../base/lines.ts';
import { findHidden } from './comments.ts';
import { decodePercent } from './escapeMarkers.ts';
import { type LineRange, readLineRange, renderLineRange } from './lineRange.ts';
import type { Region } from './textEdit.ts';

interface FoundLink {
  /** As written, without escapes. */
  readonly target: string;
  /** As written. */
  readonly label: string;
  readonly isImage: boolean;
  readonly offset: number;
  readonly end: number;
}

interface ReadLink extends FoundLink {
  /** The path of a local file. */
  readonly local: string | undefined;
  /** The lines of that file, if the link names some. */
  readonly lines?: LineRange;
}

/** Links and images in order, outside code and comments. */
export function findLinks(body: string): readonly ReadLink[] {
  if (!body.includes(']')) return [];
  const { comments, code } = findHidden(body);
  const hidden = [...comments, ...code].sort((a, b) => a.start - b.start);
  const { blocks, definitions } = splitBlocks(body, hidden);
  const cursor = new RegionCursor(hidden);
  return blocks.flatMap((block) =>
    new LinkScanner(body, block, cursor, definitions)
      .scan()
      .sort((a, b) => a.offset - b.offset)
      .map((link) => withLocal(link)),
  );
}

function withLocal(link: FoundLink): ReadLink {
  const local = localTarget(link.target);
  const lines = local === undefined ? undefined : readLineRange(link.target);
  return { ...link, local, ...(lines && { lines }) };
}

interface LocalLink extends Region, Pick<ReadLink, 'target' | 'label' | 'isImage' | 'lines'> {}

/** The decoded paths of the local files, or lines of files, that a turn links to, in order and without duplicates. */
export function localLinks(body: string): readonly LocalLink[] {
  const links = new Map<string, LocalLink>();
  for (const { local, lines, offset, end, label, isImage } of findLinks(body)) {
    if (local === undefined) continue;
    const key = `${local}\n${lines ? renderLineRange(lines) : ''}`;
    if (links.has(key)) continue;
    links.set(key, { target: local, start: offset, end, label, isImage, ...(lines && { lines }) });
  }
  return [...links.values()];
}

/** A link ends with its paragraph. Definitions begin a paragraph and apply to the whole turn. */
function splitBlocks(body: string, hidden: readonly Region[]) {
  const blocks: Region[] = [];
  const definitions = new Map<string, string>();
  const inHidden = new RegionCursor(hidden);
  let start = 0;
  for (const line of eachLine(body)) {
    if (line.start < start || inHidden.contains(line.start)) continue;
    const isBlank = line.text.trim() === '';
    const definition = line.start === start && !isBlank ? readDefinition(body, line.start) : undefined;
    if (definition) {
      if (!definitions.has(definition.label)) definitions.set(definition.label, definition.target);
      start = definition.end;
    } else if (isBlank) {
      blocks.push({ start, end: line.start });
      start = line.next;
    }
  }
  blocks.push({ start, end: body.length });
  return { blocks: blocks.filter((block) => block.start < block.end), definitions };
}

/** Looks up ordered regions by ascending offsets. */
class RegionCursor {
  readonly #regions: readonly Region[];
  #at = 0;

  constructor(regions: readonly Region[]) {
    this.#regions = regions;
  }

  contains(offset: number): boolean {
    const region = this.next(offset);
    return region !== undefined && region.start < offset;
  }

  /** The first region that ends after the offset. */
  next(offset: number): Region | undefined {
    while ((this.#regions[this.#at]?.end ?? Number.POSITIVE_INFINITY) <= offset) this.#at += 1;
    return this.#regions[this.#at];
  }
}

const HTML_TAG =
  /^<(?:[A-Za-z][A-Za-z0-9+.-]*:[^\s<>]*|\/?[A-Za-z][A-Za-z0-9-]*(?:\s+[^\s"'=<>`/]+(?:\s*=\s*(?:"[^"]*"|'[^']*'|[^\s"'=<>`]+))?)*\s*\/?)>/;
/** The limit of CommonMark. */
const MAX_LABEL_CHARS = 999;
/** An empty label, or one with more than white space. */
const LABEL = /^\[((?=\s*[^\s\]])(?:[^[\]\\]|\\[\s\S])*|)\]/;
/** Limits the cost of a text full of `<`. */
const MAX_TAG_CHARS = 2000;

class LinkScanner {
  readonly #body: string;
  readonly #block: Region;
  readonly #hidden: RegionCursor;
  readonly #definitions: ReadonlyMap<string, string>;
  readonly #open: Pick<FoundLink, 'offset' | 'isImage'>[] = [];
  /** The number of open brackets that contain a link. */
  #holdLink = 0;
  readonly #found: FoundLink[] = [];

  constructor(body: string, block: Region, hidden: RegionCursor, definitions: ReadonlyMap<string, string>) {
    this.#body = body;
    this.#block = block;
    this.#hidden = hidden;
    this.#definitions = definitions;
  }

  scan(): FoundLink[] {
    const { start, end } = this.#block;
    const sign = /[\\[\]<`]/g;
    for (let at = start; at < end; ) {
      sign.lastIndex = at;
      const found = sign.exec(this.#body)?.index ?? end;
      const region = this.#hidden.next(at);
      if (region && region.start <= found) at = Math.max(region.end, at + 1);
      else if (found >= end) break;
      else at = this.#step(found);
    }
    return this.#found;
  }

  /** Returns the offset to continue at. */
  #step(at: number): number {
    switch (this.#body[at]) {
      case '\\':
        return at + 2;
      case '<':
        return at + (HTML_TAG.exec(this.#ahead(at, MAX_TAG_CHARS))?.[0].length ?? 1);
      case '[': {
        const isImage = this.#body[at - 1] === '!' && at > this.#block.start && !this.#isEscaped(at - 1);
        this.#open.push({ offset: at, isImage });
        return at + 1;
      }
      case ']':
        return this.#close(at);
      default:
        return at + 1;
    }
  }

  #isEscaped(at: number): boolean {
    let backslashes = 0;
    while (this.#body[at - 1 - backslashes] === '\\') backslashes += 1;
    return backslashes % 2 === 1;
  }

  #close(at: number): number {
    const bracket = this.#open.pop();
    const isInLink = this.#open.length < this.#holdLink;
    this.#holdLink = Math.min(this.#holdLink, this.#open.length);
    if (!bracket || (isInLink && !bracket.isImage)) return at + 1;
    const label = this.#body.slice(bracket.offset + 1, at);
    const destination = this.#inlineDestination(at + 1) ?? this.#reference(at + 1, label);
    if (!destination) return at + 1;
    const offset = bracket.isImage ? bracket.offset - 1 : bracket.offset;
    const { target, end } = destination;
    this.#found.push({ target, label, isImage: bracket.isImage, offset, end });
    // A link cannot contain a link, so the open brackets around it are text. Images can be in a link.
    if (!bracket.isImage) this.#holdLink = this.#open.length;
    return end;
  }

  /** `(target "title")` */
  #inlineDestination(at: number): Destination | undefined {
    if (this.#body[at] !== '(') return undefined;
    const text = this.#body.slice(0, this.#block.end);
    const start = skipSpace(text, at + 1);
    if (text[start] === ')') return { target: '', end: start + 1 };
    const destination = readDestination(text, start);
    if (!destination) return undefined;
    let end = skipSpace(text, destination.end);
    const titleEnd = end > destination.end ? readTitle(text, end) : undefined;
    if (titleEnd !== undefined) end = skipSpace(text, titleEnd);
    return text[end] === ')' ? { target: destination.target, end: end + 1 } : undefined;
  }

  /** `[text][label]`, `[text][]` or `[text]`. */
  #reference(at: number, text: string): Destination | undefined {
    const behind = this.#body[at] === '[' ? LABEL.exec(this.#ahead(at, MAX_LABEL_CHARS + 2)) : null;
    const label = behind?.[1] || text;
    if (label.length > MAX_LABEL_CHARS) return undefined;
    const target = this.#definitions.get(normalizeLabel(label));
    if (target === undefined || (label === text && /(?<!\\)[[\]]/.test(text))) return undefined;
    return { target, end: at + (behind?.[0].length ?? 0) };
  }

  #ahead(at: number, maxChars: number): string {
    return this.#body.slice(at, Math.min(at + maxChars, this.#block.end));
  }
}

function skipSpace(text: string, from: number): number {
  let at = from;
  while (at < text.length && ' \t\r\n'.includes(text.charAt(at))) at += 1;
  return at;
}

interface Destination {
  /** Escapes and entities are resolved; percent encoding is kept. */
  readonly target: string;
  readonly end: number;
}

/** `<target with spaces>`, or a word with balanced parentheses. */
export function readDestination(text: string, start: number): Destination | undefined {
  if (text[start] === '<') return readPointed(text, start + 1);
  let depth = 0;
  let at = start;
  for (; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character <= ' ' || character === '\u007f') break;
    if (character === '\\' && /[!-/:-@[-`{-~]/.test(text.charAt(at + 1))) at += 1;
    else if (character === '(') depth += 1;
    else if (character === ')' && depth-- === 0) break;
    if (depth > MAX_NESTED_BRACKETS) return undefined;
  }
  if (at === start || depth > 0) return undefined;
  return { target: unescapeTarget(text.slice(start, at)), end: at };
}

const MAX_NESTED_BRACKETS = 32;

function readPointed(text: string, start: number): Destination | undefined {
  for (let at = start; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === '\n' || character === '<') return undefined;
    if (character === '\\') at += 1;
    else if (character === '>') return { target: unescapeTarget(text.slice(start, at)), end: at + 1 };
  }
  return undefined;
}

/** Returns the end of the title that begins at `start`. */
function readTitle(text: string, start: number): number | undefined {
  const closing = ({ '"': '"', "'": "'", '(': ')' } as Record<string, string>)[text.charAt(start)];
  if (closing === undefined) return undefined;
  for (let at = start + 1; at < text.length; at += 1) {
    const character = text.charAt(at);
    if (character === closing) return at + 1;
    if (character === '(' && closing === ')') return undefined;
    if (character === '\\') at += 1;
  }
  return undefined;
}

const DEFINITION = /^ {0,3}\[((?:[^[\]\\]|\\[\s\S]){1,999})\]:[ \t]*(?:\r?\n[ \t]*)?/;

/** `[label]: target "title"`, with nothing else after it. */
function readDefinition(
  text: string,
  start: number,
): { readonly label: string; readonly target: string; readonly end: number } | undefined {
  const head = DEFINITION.exec(text.slice(start, start + 2000));
  const label = normalizeLabel(head?.[1] ?? '');
  if (!head || label === '' || /\n[ \t]*\r?\n/.test(head[0])) return undefined;
  const destination = readDestination(text, start + head[0].length);
  if (!destination) return undefined;
  const end = lineEnd(text, destination.end);
  const spaced =
    /^[ \t]*(?:\r?\n[ \t]*)?/.exec(text.slice(destination.end, destination.end + 2000))?.[0] ?? '';
  const titleEnd = spaced === '' ? undefined : readTitle(text, destination.end + spaced.length);
  const titled =
    titleEnd === undefined || /\n[ \t\r]*\n/.test(text.slice(destination.end, titleEnd))
      ? undefined
      : lineEnd(text, titleEnd);
  const whole = titled ?? end;
  return whole === undefined ? undefined : { label, target: destination.target, end: whole };
}

/** Labels ignore case and white space. */
function normalizeLabel(label: string): string {
  return label.trim().replace(/\s+/g, ' ').toLowerCase().toUpperCase();
}

/** The start of the next line, if the rest of this one is blank. */
function lineEnd(text: string, from: number): number | undefined {
  let at = from;
  while (text[at] === ' ' || text[at] === '\t' || text[at] === '\r') at += 1;
  if (at >= text.length) return at;
  return text[at] === '\n' ? at + 1 : undefined;
}

/** A single letter before the colon is a drive. */
const SCHEME = /^[A-Za-z][A-Za-z0-9+.-]+:/;
const FILE_URI = /^file:(?:\/\/(?:localhost)?(?=\/))?(\/.*)$/i;
const UNFIT = /[\u0000-\u001f\u007f]/;

/** The local path of a target, or `undefined` if it is not a local file. */
export function localTarget(target: string): string | undefined {
  const file = FILE_URI.exec(target)?.[1];
  if (file === undefined && SCHEME.test(target)) return undefined;
  const path = decodePercent((file ?? target).replace(/#.*$/s, ''));
  // Two leading slashes name another machine.
  if (path.trim() === '' || UNFIT.test(path) || /^[/\\]{2}/.test(path)) return undefined;
  return file === undefined ? path : path.replace(/^\/(?=[A-Za-z]:)/, '');
}

const ENTITIES: Readonly<Record<string, string>> = { amp: '&', lt: '<', gt: '>', quot: '"', nbsp: '\u00a0' };

function unescapeTarget(text: string): string {
  return text.replace(
    /\\([!-/:-@[-`{-~])|&(?:(amp|lt|gt|quot|nbsp)|#(\d{1,7})|#[xX]([0-9A-Fa-f]{1,6}));/g,
    (written, sign?: string, name?: string, decimal?: string, hex?: string) => {
      if (sign !== undefined) return sign;
      if (name !== undefined) return ENTITIES[name] ?? written;
      const code = decimal === undefined ? Number.parseInt(hex ?? '', 16) : Number(decimal);
      return code > 0 && code <= 0x10ffff ? String.fromCodePoint(code) : written;
    },
  );
}
