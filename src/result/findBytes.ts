import { TimeSlice } from '../base/async.ts';
import { decodeBase64 } from '../base/base64.ts';
import { defined, isObject, mapStrings } from '../base/json.ts';
import { decodeUtf8 } from '../base/lines.ts';
import { describeSize } from '../base/size.ts';
import { sniffBytes } from '../media/sniff.ts';
import { type MediaType, UNKNOWN } from '../media/table.ts';
import type { AssetBytes, Spill, Spills } from '../ports/results.ts';
import { type Base64Run, findBase64Runs, MIN_RUN_CHARS } from './base64Runs.ts';
import { type FieldHit, type FieldRule, findFields, findFieldsInText } from './fields.ts';
import { detectTextType } from './markdown.ts';

export type Piece = string | Found;

/** Bytes, or a spill of which nothing was kept: too large, or the disk failed. */
export type Found = FoundBytes | Exclude<Spill, { readonly kind: 'bytes' }>;

interface FoundBytes {
  readonly kind: 'bytes';
  readonly bytes: AssetBytes;
  readonly declared?: string;
  /** The text of the Markdown link or image around the bytes. */
  readonly label?: string;
  readonly summary?: string;
}

/** Searches text for base64 that no block type and no setting declares. */
export async function findBytes(text: string): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  const slice = new TimeSlice();
  let from = 0;
  for await (const run of findBase64Runs(text, slice)) {
    if (slice.isOver()) await slice.pause();
    const found = await recognize(run, standsAlone(text, run));
    if (slice.isOver()) await slice.pause();
    if (!found) continue;
    const around = markdownAround(text, run, from);
    pieces.push(text.slice(from, around.start), { ...found, ...around.label });
    from = around.end;
  }
  pieces.push(text.slice(from));
  return pieces.filter((piece) => piece !== '');
}

/** A spilled string that decodes to neither a known format nor noise becomes text again. */
async function recognizeSpill(spill: Spill): Promise<Piece> {
  const found = foundIn(spill);
  if (spill.kind !== 'bytes' || found.kind !== 'bytes') return found;
  if (spill.mimeType !== undefined || (await sniffBytes(spill.head))) return found;
  const type = detectUnsigned(spill.head);
  if (!type && spill.original) return spill.original();
  return { ...found, ...declaredAs(type ?? UNKNOWN) };
}

export function foundIn(spill: Spill): Found {
  if (spill.kind !== 'bytes') return spill;
  const { kind, mimeType, original: _, ...bytes } = spill;
  return { kind, bytes, ...defined({ declared: mimeType }) };
}

const MIN_SIGNED_BYTES = 48;
/** Signatures of two bytes also occur in ordinary words, so they need more data. */
const MIN_WEAKLY_SIGNED_BYTES = 256;
const MIN_UNSIGNED_CHARS = 2000;
/** Enough to recognize every format except those inside a ZIP; a multiple of four. */
const HEAD_CHARS = 8192;

async function recognize(run: Base64Run, alone: boolean): Promise<FoundBytes | undefined> {
  if (run.length % 4 === 1 || (run.padding > 0 && (run.length + run.padding) % 4 !== 0)) return undefined;
  const claim = run.declared === undefined ? await detectHead(run, alone) : { declared: run.declared };
  if (!claim || (holds(run, '-', '_') && holds(run, '+', '/'))) return undefined;
  // Buffer's 'base64' accepts both alphabets.
  return { kind: 'bytes', bytes: Buffer.from(run.pieces.join(''), 'base64'), ...claim };
}

async function detectHead(
  run: Base64Run,
  alone: boolean,
): Promise<{ readonly declared?: string } | undefined> {
  const digits = firstDigits(run);
  if (await signedType(digits, (run.length * 3) / 4)) return {};
  const unsigned = alone && isCanonical(run) ? detectUnsigned(Buffer.from(digits, 'base64')) : undefined;
  return unsigned && declaredAs(unsigned);
}

/** The type by its signature, if there are enough bytes to rule out an ordinary word. */
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
  return defined({ declared });
}

function holds({ pieces }: Base64Run, ...signs: readonly string[]): boolean {
  return signs.some((sign) => pieces.some((piece) => piece.includes(sign)));
}

/** As an encoder writes it: plain alphabet, padded, and the unused bits are zero. */
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
  // Without the signature, which may already look mixed.
  return isMixed(digits.slice(SIGNATURE_CHARS)) ? MIN_WEAKLY_SIGNED_BYTES : Number.POSITIVE_INFINITY;
}

/** Words, numbers, hexadecimal and gene sequences lack one of these. */
function isMixed(digits: string): boolean {
  return /[A-Z]/.test(digits) && /[a-z]/.test(digits) && /[0-9]/.test(digits);
}

/** Noise has an entropy of almost 6 bits per digit; names and numbers have less than 5. */
const MIN_NOISE_BITS = 5.3;
const MIN_TEXT_BITS = 3.5;

/** Bytes without a signature count if they are noise or valid text. */
function detectUnsigned(head: Uint8Array): MediaType | undefined {
  const digits = Buffer.from(head).toString('base64');
  const bits = entropy(digits);
  const text = bits >= MIN_TEXT_BITS ? readText(head) : undefined;
  if (text !== undefined) return detectTextType(text);
  const isNoise = bits >= MIN_NOISE_BITS && isMixed(digits) && /[+/]/.test(digits);
  return isNoise ? UNKNOWN : undefined;
}

/** UTF-8 without control characters. */
function readText(head: Uint8Array): string | undefined {
  const text = decodeUtf8(head, { isCut: true })?.replace(/^\uFEFF/, '');
  return text === undefined || /[\u0000-\u0008\u000e-\u001f\u007f]/.test(text) ? undefined : text;
}

function entropy(text: string): number {
  const counts = new Map<string, number>();
  for (const character of text) counts.set(character, (counts.get(character) ?? 0) + 1);
  let bits = 0;
  for (const count of counts.values()) bits -= (count / text.length) * Math.log2(count / text.length);
  return bits;
}

/** Whether a run is the whole text or a whole string in JSON, which may be nested. */
function standsAlone(text: string, { start, end }: Base64Run): boolean {
  const before = text.slice(Math.max(0, start - 32), start);
  const after = text.slice(end, end + 32);
  if (/^\s*$/.test(before) && /^\s*$/.test(after)) return start <= 32 && text.length - end <= 32;
  return /["']$/.test(before) && /^(?:(?:\\+r)?\\+n)?\\*["']/.test(after);
}

const MAX_LABEL_CHARS = 200;

function markdownAround(text: string, { start, end }: Base64Run, floor: number) {
  const before = text.slice(Math.max(floor, start - MAX_LABEL_CHARS), start);
  const opened = /!?\[([^[\]\n]*)\]\($/.exec(before);
  const closed = /^(?:[ \t]+"[^"\n]{0,100}")?\)/.exec(text.slice(end, end + MAX_LABEL_CHARS));
  if (!opened || !closed) return { start, end, label: {} };
  const label = defined({ label: opened[1]?.trim() || undefined });
  return { start: start - opened[0].length, end: end + closed[0].length, label };
}

export interface ExtractContext {
  readonly spills?: Spills | undefined;
  readonly rules: readonly FieldRule[];
}

/** Extracts all bytes from a text: those that match a rule, those that were spilled, and base64. */
export async function extractBytes(text: string, context: ExtractContext): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  for (const piece of findFieldsInText(text, context.rules)) {
    if (typeof piece !== 'string')
      pieces.push(readHit(piece, context) ?? JSON.stringify(piece.data).slice(1, -1));
    else {
      for (const each of await extractSpills(piece, context.spills)) {
        if (typeof each === 'string') pieces.push(...(await findBytes(each)));
        else pieces.push(each);
      }
    }
  }
  return pieces;
}

/** `extractBytes` for every string in structured content that contains bytes. */
export async function extractFromValue(
  value: unknown,
  context: ExtractContext,
): Promise<ReadonlyMap<string, readonly Piece[]>> {
  const extracted = new Map<string, readonly Piece[]>();
  for (const hit of findFields(value, context.rules)) {
    const found = readHit(hit, context);
    if (found) extracted.set(hit.data, [found]);
  }
  const strings = new Set<string>();
  mapStrings(value, (text) => {
    if (text.length >= MIN_RUN_CHARS || context.spills?.find(text)) strings.add(text);
    return text;
  });
  const { spills } = context;
  for (const text of strings) {
    const pieces = extracted.get(text) ?? (await extractBytes(text, { spills, rules: [] }));
    // A spilled string that is text again has changed too.
    if (pieces.length !== 1 || pieces[0] !== text) extracted.set(text, pieces);
  }
  return extracted;
}

export function isFound(piece: Piece): piece is Found {
  return typeof piece !== 'string';
}

/** A string that matches a rule needs no signature, only valid base64. */
function readHit({ data, ...about }: FieldHit, { spills }: ExtractContext): Found | undefined {
  const spill = spills?.find(data);
  if (spill) {
    const found = foundIn(spill);
    return found.kind === 'bytes' ? { ...found, ...about } : found;
  }
  const decoded = decodeBase64(data);
  // Base64 may have line breaks but no spaces: “not found” would decode.
  if (!decoded.ok || decoded.bytes.length === 0 || data.trim().includes(' ')) return undefined;
  return { kind: 'bytes', bytes: decoded.bytes, ...defined({ declared: decoded.mimeType }), ...about };
}

async function extractSpills(text: string, spills: Spills | undefined): Promise<readonly Piece[]> {
  if (!spills) return [text];
  const whole = spills.find(text);
  if (whole) return [await recognizeSpill(whole)];
  const pieces: Piece[] = [];
  let from = 0;
  for (const { 0: placeholder, index } of text.matchAll(PLACEHOLDER)) {
    const spill = spills.find(placeholder);
    if (!spill) continue;
    pieces.push(text.slice(from, index), await recognizeSpill(spill));
    from = index + placeholder.length;
  }
  pieces.push(text.slice(from));
  return pieces.filter((piece) => piece !== '');
}

/** Replaces a long string that was decoded to a file while the result arrived. */
export function renderPlaceholder(secret: string, number: number): string {
  return `filechat-spill:${secret}:${number}`;
}

/** A transformer may have put a placeholder into a text. */
const PLACEHOLDER = /filechat-spill:[0-9a-f]{32}:[0-9]+/g;

const MAX_RESTORED_BYTES = 8 * 1024 * 1024;

/** Restores the original strings of placeholders in fields other than bytes and text, such as a URI or a title. */
export async function restorePlaceholders(result: unknown, spills: Spills | undefined): Promise<unknown> {
  if (!spills || !isObject(result) || !Array.isArray(result['content'])) return result;
  const content: readonly unknown[] = result['content'];
  const found = new Map<string, Spill>();
  for (const block of content) {
    mapOtherStrings(block, (text) => {
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
    content: content.map((block) => mapOtherStrings(block, (text) => restored.get(text) ?? text)),
  };
}

async function restore(spill: Spill): Promise<string> {
  const words = `(${describeSize(spill.size)} of base64)`;
  if (spill.kind !== 'bytes' || !spill.original || spill.size > MAX_RESTORED_BYTES) return words;
  return spill.original().catch(() => words);
}

function mapOtherStrings(block: unknown, replace: (text: string) => string): unknown {
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
