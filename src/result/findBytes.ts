import { TimeSlice } from '../base/async.ts';
import { decodeBase64 } from '../base/base64.ts';
import { isObject, mapStrings } from '../base/json.ts';
import { describeSize } from '../base/size.ts';
import { sniffBytes } from '../media/sniff.ts';
import { type MediaType, UNKNOWN } from '../media/table.ts';
import type { AssetBytes, Spill, Spills } from '../ports/results.ts';

import { type Base64Run, findBase64Runs, MIN_RUN_CHARS } from './base64Runs.ts';
import { type FieldHit, type FieldRule, findFields, findFieldsInText } from './fields.ts';
import { judgeTextType } from './markdown.ts';

/** A text from which bytes were taken out: what is left of it, and the bytes in their places. */
export type Piece = string | Found;

export type Found = FoundBytes | LostBytes;

export interface FoundBytes {
  readonly kind: 'bytes';
  readonly bytes: AssetBytes;
  /** What something beside the bytes says that they are. */
  readonly declared?: string;
  /** What the text called it. */
  readonly label?: string;
  /** The words for its place, if the user has chosen some; `{size}` and the like are still to be filled in. */
  readonly summary?: string;
}

/** Bytes of which nothing was kept while they arrived: too many, or the disk failed. */
export type LostBytes = Exclude<Spill, { readonly kind: 'bytes' }>;

/** The layer that looks for base64 where no block type and no setting says that there is any. */
export async function findBytes(text: string): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  const slice = new TimeSlice();
  let from = 0;
  for await (const run of findBase64Runs(text, slice)) {
    if (slice.isOver()) await slice.pause();
    const found = await recognise(run, standsAlone(text, run));
    if (slice.isOver()) await slice.pause();
    if (!found) continue;
    const around = markdownAround(text, run, from);
    pieces.push(text.slice(from, around.start), { ...found, ...around.label });
    from = around.end;
  }
  pieces.push(text.slice(from));
  return pieces.filter((piece) => piece !== '');
}

/** The same for a string that was decoded while it arrived. One that reads like words is text again. */
async function judgeSpill(spill: Spill): Promise<Piece> {
  if (spill.kind !== 'bytes') return spill;
  const { kind, mimeType, original, ...bytes } = spill;
  if (mimeType !== undefined) return { kind, bytes, declared: mimeType };
  if (await sniffBytes(bytes.head)) return { kind, bytes };
  const type = judgeUnsigned(bytes.head);
  if (!type && original) return original();
  return { kind, bytes, ...declaredAs(type ?? UNKNOWN) };
}

/** Fewer bytes than this are left where they are, even if they are signed: no picture is that small. */
const MIN_SIGNED_BYTES = 48;
/** Signatures of two bytes are found in ordinary words too; with this many bytes behind them they are not. */
const MIN_WEAKLY_SIGNED_BYTES = 256;
/** Bytes that nothing signs are taken only from this length on. */
const MIN_UNSIGNED_CHARS = 2000;
/** Enough to recognise everything but what is in a ZIP; a multiple of four. */
const HEAD_CHARS = 8192;

async function recognise(run: Base64Run, alone: boolean): Promise<FoundBytes | undefined> {
  if (run.length % 4 === 1 || (run.padding > 0 && (run.length + run.padding) % 4 !== 0)) return undefined;
  const claim = run.declared === undefined ? await judgeHead(run, alone) : { declared: run.declared };
  if (!claim || (holds(run, '-', '_') && holds(run, '+', '/'))) return undefined;
  // Buffer reads both alphabets under this name.
  return { kind: 'bytes', bytes: Buffer.from(run.pieces.join(''), 'base64'), ...claim };
}

/** Judged by the first bytes, so that what is not taken costs next to nothing. */
async function judgeHead(
  run: Base64Run,
  alone: boolean,
): Promise<{ readonly declared?: string } | undefined> {
  const digits = firstDigits(run);
  if (await signedType(digits, (run.length * 3) / 4)) return {};
  const unsigned = alone && isCanonical(run) ? judgeUnsigned(Buffer.from(digits, 'base64')) : undefined;
  return unsigned && declaredAs(unsigned);
}

/** What the first digits of base64 are signed as, if there are enough bytes that no word just looks like it. */
export async function signedType(digits: string, byteCount: number): Promise<MediaType | undefined> {
  const signed = await sniffBytes(Buffer.from(digits, 'base64'));
  return signed && byteCount >= minSize(signed, digits) ? signed : undefined;
}

function firstDigits({ pieces }: Base64Run): string {
  let digits = '';
  for (const piece of pieces) {
    digits += piece.slice(0, HEAD_CHARS);
    if (digits.length >= HEAD_CHARS) break;
  }
  return digits.slice(0, HEAD_CHARS);
}

function declaredAs({ types: [declared] }: MediaType): { readonly declared?: string } {
  return declared === undefined ? {} : { declared };
}

function holds({ pieces }: Base64Run, ...signs: readonly string[]): boolean {
  return signs.some((sign) => pieces.some((piece) => piece.includes(sign)));
}

/** As an encoder writes it: the plain alphabet, padded, with nothing in the bits that are left over. */
function isCanonical(run: Base64Run): boolean {
  if (run.length < MIN_UNSIGNED_CHARS || (run.length + run.padding) % 4 !== 0) return false;
  const end = run.pieces
    .slice(-4)
    .join('')
    .slice(-(run.length % 4) || Number.POSITIVE_INFINITY);
  return !holds(run, '-', '_') && Buffer.from(end, 'base64').toString('base64').startsWith(end);
}

const STRONGLY_SIGNED = new Set(
  'png jpg gif webp avif apng ico svg html tif heic jxl psd pdf docx xlsx pptx odt ods odp epub docm xlsm pptm rtf zip 7z rar xz zst tar wav ogg opus flac m4a mid mp4 mov webm mkv avi ogv sqlite parquet wasm woff woff2'.split(
    ' ',
  ),
);

const SIGNATURE_CHARS = 16;

function minSize(type: MediaType, digits: string): number {
  if (STRONGLY_SIGNED.has(type.extension)) return MIN_SIGNED_BYTES;
  // The signature itself must not be what makes it look mixed.
  return isMixed(digits.slice(SIGNATURE_CHARS)) ? MIN_WEAKLY_SIGNED_BYTES : Number.POSITIVE_INFINITY;
}

/** Words, numbers, hexadecimal and sequences of genes lack one of these. */
function isMixed(digits: string): boolean {
  return /[A-Z]/.test(digits) && /[a-z]/.test(digits) && /[0-9]/.test(digits);
}

/** Noise has close to 6 bits in each digit; the most motley names and numbers have less than 5. */
const MIN_NOISE_BITS = 5.3;
const MIN_TEXT_BITS = 3.5;

/** Without a signature: taken when it is noise or when it is, beyond all chance, a text in base64. */
function judgeUnsigned(head: Uint8Array): MediaType | undefined {
  const digits = Buffer.from(head).toString('base64');
  const bits = entropy(digits);
  const text = bits >= MIN_TEXT_BITS ? readText(head) : undefined;
  if (text !== undefined) return judgeTextType(text);
  const isNoise = bits >= MIN_NOISE_BITS && isMixed(digits) && /[+/]/.test(digits);
  return isNoise ? UNKNOWN : undefined;
}

/** Strict UTF-8 without control characters; the head may end within a character. */
function readText(head: Uint8Array): string | undefined {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(head, { stream: true });
    return /[\u0000-\u0008\u000e-\u001f\u007f]/.test(text) ? undefined : text;
  } catch {
    return undefined;
  }
}

function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** Whether a run is all of the text, or all of a string in JSON at whatever depth. */
function standsAlone(text: string, { start, end }: Base64Run): boolean {
  const before = text.slice(Math.max(0, start - 32), start);
  const after = text.slice(end, end + 32);
  if (/^\s*$/.test(before) && /^\s*$/.test(after)) return start <= 32 && text.length - end <= 32;
  return /["']$/.test(before) && /^(?:(?:\\+r)?\\+n)?\\*["']/.test(after);
}

const MAX_LABEL_CHARS = 200;

/** Takes away the Markdown of an image or a link with its address; what it was called is kept. */
function markdownAround(text: string, { start, end }: Base64Run, floor: number) {
  const plain = { start, end, label: {} };
  const before = text.slice(Math.max(floor, start - MAX_LABEL_CHARS), start);
  const opened = /!?\[([^[\]\n]*)\]\($/.exec(before);
  const closed = /^(?:[ \t]+"[^"\n]{0,100}")?\)/.exec(text.slice(end, end + MAX_LABEL_CHARS));
  if (!opened || !closed) return plain;
  const label = opened[1]?.trim();
  return {
    start: start - opened[0].length,
    end: end + closed[0].length,
    label: label ? { label } : {},
  };
}

/** What is known about a result beside the result itself. */
export interface TakeOutContext {
  readonly spills?: Spills | undefined;
  readonly rules: readonly FieldRule[];
}

/** Takes all bytes out of a text: those that the settings name, those that were spilled, those that are found. */
export async function takeOut(text: string, context: TakeOutContext): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  for (const piece of findFieldsInText(text, context.rules)) {
    if (typeof piece !== 'string')
      pieces.push((await readHit(piece, context)) ?? JSON.stringify(piece.data).slice(1, -1));
    else {
      for (const each of await takeSpills(piece, context.spills)) {
        if (typeof each === 'string') pieces.push(...(await findBytes(each)));
        else pieces.push(each);
      }
    }
  }
  return pieces;
}

/** The same for structured content: for each string in it that holds bytes, what is left of it. */
export async function takeOutOfValue(
  value: unknown,
  context: TakeOutContext,
): Promise<ReadonlyMap<string, readonly Piece[]>> {
  const taken = new Map<string, readonly Piece[]>();
  for (const hit of findFields(value, context.rules)) {
    const found = await readHit(hit, context);
    if (found) taken.set(hit.data, [found]);
  }
  const strings = new Set<string>();
  mapStrings(value, (text) => {
    if (text.length >= MIN_RUN_CHARS || context.spills?.find(text)) strings.add(text);
    return text;
  });
  const { spills } = context;
  for (const text of strings) {
    const pieces = taken.get(text) ?? (await takeOut(text, { spills, rules: [] }));
    // A string may be changed without any bytes in it: it was spilled, and is text again.
    if (pieces.length !== 1 || pieces[0] !== text) taken.set(text, pieces);
  }
  return taken;
}

export function isFound(piece: Piece): piece is Found {
  return typeof piece !== 'string';
}

/** What a rule points at is bytes, whether or not anything signs them; unless it is no base64 at all. */
async function readHit(hit: FieldHit, { spills }: TakeOutContext): Promise<Found | undefined> {
  const { data, ...about } = hit;
  const spill = spills?.find(data);
  if (spill) {
    if (spill.kind !== 'bytes') return spill;
    const { kind, mimeType, original: _, ...bytes } = spill;
    return { kind, bytes, ...(mimeType === undefined ? {} : { declared: mimeType }), ...about };
  }
  const decoded = decodeBase64(data);
  // Base64 may be in lines, but what has words in it is a message: “not found” would pass for base64.
  if (!decoded.ok || decoded.bytes.length === 0 || data.trim().includes(' ')) return undefined;
  const declared = decoded.mimeType === undefined ? {} : { declared: decoded.mimeType };
  return { kind: 'bytes', bytes: decoded.bytes, ...declared, ...about };
}

async function takeSpills(text: string, spills: Spills | undefined): Promise<readonly Piece[]> {
  if (!spills) return [text];
  const whole = spills.find(text);
  if (whole) return [await judgeSpill(whole)];
  const pieces: Piece[] = [];
  let from = 0;
  for (const { 0: placeholder, index } of text.matchAll(PLACEHOLDER)) {
    const spill = spills.find(placeholder);
    if (!spill) continue;
    pieces.push(text.slice(from, index), await judgeSpill(spill));
    from = index + placeholder.length;
  }
  pieces.push(text.slice(from));
  return pieces.filter((piece) => piece !== '');
}

/** What stands in a result for a long string that was taken out of it on the way in. */
export function renderPlaceholder(secret: string, number: number): string {
  return `filechat-spill:${secret}:${number}`;
}

/** Finds them in a text too: a transformer may have put one there. */
const PLACEHOLDER = /filechat-spill:[0-9a-f]{32}:[0-9]+/g;

/** A longer address or title is not worth reading back: it would be cut to a few words. */
const MAX_RESTORED_BYTES = 8 * 1024 * 1024;

/**
 * A placeholder means something where a block has bytes or text. In any other field, such as an address or
 * a title, the string that it stands for is put back.
 */
export async function restoreStrays(result: unknown, spills: Spills | undefined): Promise<unknown> {
  if (!spills || !isObject(result) || !Array.isArray(result['content'])) return result;
  const content: readonly unknown[] = result['content'];
  const found = new Map<string, Spill>();
  for (const block of content) {
    mapStrays(block, (text) => {
      const spill = spills.find(text);
      if (spill) found.set(text, spill);
      return text;
    });
  }
  if (found.size === 0) return result;
  const restored = new Map<string, string>();
  for (const [placeholder, spill] of found) restored.set(placeholder, await restore(spill));
  return {
    ...result,
    content: content.map((block) => mapStrays(block, (text) => restored.get(text) ?? text)),
  };
}

async function restore(spill: Spill): Promise<string> {
  const words = `(${describeSize(spill.size)} of base64)`;
  if (spill.kind !== 'bytes' || !spill.original || spill.size > MAX_RESTORED_BYTES) return words;
  return spill.original().catch(() => words);
}

function mapStrays(block: unknown, replace: (text: string) => string): unknown {
  if (!isObject(block)) return mapStrings(block, replace);
  const mapped = mapAllBut(['data', 'text'], block, replace);
  const { resource } = block;
  return isObject(resource)
    ? { ...mapped, resource: mapAllBut(['text', 'blob'], resource, replace) }
    : mapped;
}

function mapAllBut(kept: readonly string[], owner: object, replace: (text: string) => string): object {
  return Object.fromEntries(
    Object.entries(owner).map(([key, value]) => [
      replace(key),
      kept.includes(key) && typeof value === 'string' ? value : mapStrings(value, replace),
    ]),
  );
}
