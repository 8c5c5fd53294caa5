import { decodePercent } from './escape.ts';

export interface Destination {
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
    if (character === '\\' && isPunctuation(text.charAt(at + 1))) at += 1;
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
export function readTitle(text: string, start: number): number | undefined {
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
export function readDefinition(
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
    titleEnd === undefined || hasBlankLine(text.slice(destination.end, titleEnd))
      ? undefined
      : lineEnd(text, titleEnd);
  const whole = titled ?? end;
  return whole === undefined ? undefined : { label, target: destination.target, end: whole };
}

/** Labels ignore case and white space. */
export function normalizeLabel(label: string): string {
  return label.trim().replace(/\s+/g, ' ').toLowerCase().toUpperCase();
}

function hasBlankLine(text: string): boolean {
  return /\n[ \t\r]*\n/.test(text);
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

function isPunctuation(character: string): boolean {
  return /^[!-/:-@[-`{-~]$/.test(character);
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
