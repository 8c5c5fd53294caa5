import { decodeBase64 } from '../base/base64.ts';
import { defined, field, mapStrings, parseJson } from '../base/json.ts';
import { sniffBytes } from '../media/sniff.ts';
import { mediaByExtension, UNKNOWN } from '../media/table.ts';
import type { Spill, Spills } from '../ports/results.ts';
import type { ToolName } from '../ports/tools.ts';
import { nameBeside, PLACEHOLDER_HEAD } from './blocks.ts';
import { detectUnsigned, type Found, findBase64, MIN_RUN_CHARS, type Piece } from './findBase64.ts';
import { looksLikeJson } from './jsonText.ts';
import { isAssetName, SUMMARY_NAME } from './modelView.ts';
import { joined, type TextPieces, windowsOf } from './textWindows.ts';

interface ExtractContext {
  readonly spills?: Spills | undefined;
  readonly rules: readonly FieldRule[];
}

/** Extracts all bytes from a text: those that match a rule, those that were spilled, and base64. */
export async function extractBytes(text: string, context: ExtractContext): Promise<readonly Piece[]> {
  const pieces: Piece[] = [];
  for (const piece of findFieldsInText(text, context.rules)) {
    if (typeof piece !== 'string')
      pieces.push((await readHit(piece, context)) ?? JSON.stringify(piece.data).slice(1, -1));
    else {
      for (const each of await extractSpills(piece, context.spills)) {
        if (typeof each === 'string') pieces.push(...(await findBase64(each)));
        else pieces.push(each);
      }
    }
  }
  return nameInJson(pieces);
}

/** `extractBytes` for every string in structured content that contains bytes. */
export async function extractFromValue(
  value: unknown,
  context: ExtractContext,
): Promise<ReadonlyMap<string, readonly Piece[]>> {
  const extracted = new Map<string, readonly Piece[]>();
  for (const hit of findFields(value, context.rules)) {
    const found = await readHit(hit, context);
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
  const names = extracted.size === 0 ? new Map<string, string>() : findNames(value);
  for (const [text, [only, ...more]] of extracted) {
    if (only !== undefined && more.length === 0) extracted.set(text, [named(only, names.get(text))]);
  }
  return extracted;
}

/** Gives bytes that are a whole string in JSON text the name beside them. */
function nameInJson(pieces: readonly Piece[]): readonly Piece[] {
  if (pieces.length === 1 || !pieces.some(isFound)) return pieces;
  const marker = (at: number) => `filechat-bytes:${at}`;
  const json = pieces.map((piece, at) => (isFound(piece) ? marker(at) : piece)).join('');
  if (json.length > MAX_PARSED_CHARS || !/^\s*[[{]/.test(json)) return pieces;
  const names = findNames(parseJson(json));
  return pieces.map((piece, at) => named(piece, names.get(marker(at))));
}

function named(piece: Piece, name: string | undefined): Piece {
  return isFound(piece) && piece.kind === 'bytes' && name !== undefined ? { ...piece, name } : piece;
}

/** For each string in an object that has a name: that name. */
function findNames(value: unknown): ReadonlyMap<string, string> {
  const names = new Map<string, string>();
  const pending: unknown[] = [value];
  // A transformer can return a cycle.
  const seen = new Set<object>();
  while (pending.length > 0) {
    const owner = pending.pop();
    if (typeof owner !== 'object' || owner === null || seen.has(owner)) continue;
    seen.add(owner);
    const name = nameBeside(owner);
    for (const each of Object.values(owner)) {
      if (typeof each !== 'string') pending.push(each);
      else if (name !== undefined && !names.has(each)) names.set(each, name);
    }
  }
  return names;
}

export function isFound(piece: Piece): piece is Found {
  return typeof piece !== 'string';
}

/** A string that matches a rule needs no signature, only valid base64. */
async function readHit(
  { data: written, ...about }: FieldHit,
  { spills }: ExtractContext,
): Promise<Found | undefined> {
  const spill = spills?.find(written);
  const data = (spill && (await readText(spill))) ?? written;
  if (spill && data === written) {
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
  const readSpill = async (spill: Spill) => {
    const recognized = await recognizeSpill(spill);
    return typeof recognized === 'function' ? joined(recognized()) : recognized;
  };
  const whole = spills.find(text);
  if (whole) return [await readSpill(whole)];
  const inJson = looksLikeJson(text) || /^"[^"]*"$/.test(text);
  const write = (each: Piece) =>
    typeof each === 'string' && inJson ? JSON.stringify(each).slice(1, -1) : each;
  const pieces: Piece[] = [];
  let from = 0;
  for (const { 0: placeholder, index } of text.matchAll(PLACEHOLDER)) {
    const spill = spills.find(placeholder);
    if (!spill) continue;
    pieces.push(text.slice(from, index), write(await readSpill(spill)));
    from = index + placeholder.length;
  }
  pieces.push(text.slice(from));
  return pieces.filter((piece) => piece !== '');
}

/** What a placeholder stands for, if that is text. */
export async function spilledText(text: string, spills: Spills | undefined): Promise<TextPieces | undefined> {
  const spill = spills?.find(text);
  const recognized = spill && (await recognizeSpill(spill));
  return typeof recognized === 'function' ? recognized : undefined;
}

export type Extract = (text: string) => Promise<readonly Piece[]>;

export function remember(extract: Extract): Extract {
  const known = new Map<string, Promise<readonly Piece[]>>();
  return (text) => {
    const pieces = known.get(text) ?? extract(text);
    known.set(text, pieces);
    return pieces;
  };
}

/** The windows of a text with their bytes, which are looked for once. */
export type Search = (
  placeholder: string,
  spilled: TextPieces,
) => AsyncGenerator<{ readonly window: string; readonly pieces: readonly Piece[] }>;

export function rememberSearch(): Search {
  const known = new Map<string, readonly Piece[] | undefined>();
  return async function* (placeholder, spilled) {
    let at = 0;
    for await (const window of windowsOf(spilled())) {
      const key = `${placeholder} ${at++}`;
      if (!known.has(key)) {
        const pieces = await findBase64(window);
        known.set(key, pieces.some(isFound) ? pieces : undefined);
      }
      yield { window, pieces: known.get(key) ?? [window] };
    }
  };
}

/** The string of a spill that never was base64 without flaws. */
export async function readText(spill: Spill): Promise<string | undefined> {
  return spill.kind === 'bytes' && spill.textHash && spill.pieces ? joined(spill.pieces()) : undefined;
}

/** A spilled string that decodes to neither a known format nor noise becomes text again. */
async function recognizeSpill(spill: Spill): Promise<Found | TextPieces> {
  if (spill.kind === 'bytes' && spill.textHash && spill.pieces) return spill.pieces;
  const found = foundIn(spill);
  if (spill.kind !== 'bytes' || found.kind !== 'bytes') return found;
  if (spill.mimeType !== undefined || (await sniffBytes(spill.head))) return found;
  const type = detectUnsigned(spill.head);
  if (!type && spill.pieces) return spill.pieces;
  return { ...found, declared: (type ?? UNKNOWN).types[0] };
}

export function foundIn(spill: Spill): Found {
  if (spill.kind !== 'bytes') return spill;
  const { kind, mimeType, pieces: _, textHash: _hash, ...bytes } = spill;
  return { kind, bytes, ...defined({ declared: mimeType }) };
}

/** Replaces a long string that was decoded to a file while the result arrived. */
export function renderPlaceholder(secret: string, number: number): string {
  return `${PLACEHOLDER_HEAD}${secret}:${number}`;
}

/** A transformer may have put a placeholder into a text. */
const PLACEHOLDER = /filechat-spill:[0-9a-f]{32}:[0-9]+/g;

/** An entry of the setting `results.fields`: where a tool's JSON contains bytes. */
export interface FieldRule {
  /** Names separated by dots; `[]` or `*` matches every element: `pages[].image`, `files.*.data`, `$['a name'][0]`. */
  readonly path: string;
  /** A MIME type or an extension. */
  readonly type?: string;
  /** A template with the names of modelView.ts and those of sibling fields. */
  readonly summary?: string;
}

interface FieldHit {
  readonly data: string;
  readonly declared?: string;
  /** The rule's summary with the values of sibling fields filled in. */
  readonly summary?: string;
}

/** Reads the rules of one tool from a setting that is not validated. */
export function readFieldRules(setting: unknown, { server, tool }: ToolName): readonly FieldRule[] {
  const rules = field(setting, `${server}.${tool}`);
  if (!Array.isArray(rules)) return [];
  return rules.flatMap((rule: unknown) => {
    const path = textField(rule, 'path');
    if (path === undefined) return [];
    return [{ path, ...defined({ type: textField(rule, 'type'), summary: textField(rule, 'summary') }) }];
  });
}

export function findFields(value: unknown, rules: readonly FieldRule[]): readonly FieldHit[] {
  return rules.flatMap((rule) => {
    const steps = readPath(rule.path) ?? [];
    const last = steps.at(-1);
    if (last === undefined) return [];
    let owners: readonly unknown[] = [value];
    for (const step of steps.slice(0, -1)) owners = owners.flatMap((owner) => take(owner, step));
    return owners.flatMap((owner) => take(owner, last).flatMap((data) => toHit(rule, owner, data)));
  });
}

/** Parsing longer JSON would block the event loop; such text is still searched for base64. */
const MAX_PARSED_CHARS = 4_000_000;

/** `findFields` for JSON text. Keeps the text around the matches unchanged. */
export function findFieldsInText(json: string, rules: readonly FieldRule[]): readonly (string | FieldHit)[] {
  if (rules.length === 0 || json.length > MAX_PARSED_CHARS || !/^\s*[[{]/.test(json)) return [json];
  const value = parseJson(json);
  let pieces: readonly (string | FieldHit)[] = [json];
  for (const hit of new Map(findFields(value, rules).map((each) => [each.data, each])).values()) {
    pieces = pieces.flatMap((piece) => (typeof piece === 'string' ? cutOut(piece, hit) : [piece]));
  }
  return pieces;
}

function cutOut(text: string, hit: FieldHit): readonly (string | FieldHit)[] {
  const written = JSON.stringify(hit.data);
  const escaped = written.replaceAll('/', '\\/');
  const literal = text.includes(written) ? written : escaped;
  return text
    .split(literal)
    .flatMap((piece, at, all) => [
      `${at > 0 ? '"' : ''}${piece}${at < all.length - 1 ? '"' : ''}`,
      ...(at < all.length - 1 ? [hit] : []),
    ]);
}

const EACH = '*';

/** One step: a name, `[]`, `[0]`, `['a name']`. */
const STEP = /\.?([^.[\]()?]+)|\[(\d*|\*)\]|\['([^']+)'\]|\["([^"]+)"\]/y;

/** Undefined for what JSONPath has beyond names and elements, such as `..` and filters. */
function readPath(path: string): readonly string[] | undefined {
  const rest = path.replace(/^\$/, '');
  const steps: string[] = [];
  STEP.lastIndex = 0;
  for (let at = 0; at < rest.length; at = STEP.lastIndex) {
    const step = STEP.exec(rest);
    if (!step) return undefined;
    const [, name, index, ...quoted] = step;
    steps.push(name ?? quoted.find((each) => each !== undefined) ?? (index || EACH));
  }
  return steps.length === 0 ? undefined : steps;
}

/** Why rules have no effect, as messages for the chat. */
export function fieldProblems(rules: readonly FieldRule[]): readonly string[] {
  return rules
    .filter(({ path }) => readPath(path) === undefined)
    .map(({ path }) => `The path “${path}” is not supported. ${PATH_HELP}`);
}

const PATH_HELP = 'Separate names with dots, and use [] for the items of a list, such as pages[].image.';

function take(owner: unknown, step: string): readonly unknown[] {
  if (step === EACH) return typeof owner === 'object' && owner !== null ? Object.values(owner) : [];
  const value = field(owner, step);
  return value === undefined ? [] : [value];
}

function toHit({ type, summary }: FieldRule, owner: unknown, data: unknown): readonly FieldHit[] {
  if (typeof data !== 'string' || data === '') return [];
  const declared = type && (mediaByExtension(type)?.types[0] ?? type);
  return [{ data, ...defined({ declared, summary: summary && fillSiblings(summary, owner) }) }];
}

const MAX_SIBLING_CHARS = 60;

/** Leaves the names that are filled in when the asset is saved, and those that are unknown. */
function fillSiblings(summary: string, owner: unknown): string {
  return summary.replace(SUMMARY_NAME, (placeholder, key: string) => {
    const value = isAssetName(key) ? undefined : field(owner, key);
    if (typeof value !== 'string' && typeof value !== 'number' && typeof value !== 'boolean')
      return placeholder;
    const letters = Array.from(String(value));
    const cut = letters.length > MAX_SIBLING_CHARS;
    const shown = cut ? `${letters.slice(0, MAX_SIBLING_CHARS).join('')}…` : String(value);
    // Braces would look like a placeholder when the rest is filled in.
    return shown.replace(/[{}]/g, '');
  });
}

function textField(owner: unknown, key: string): string | undefined {
  const value = field(owner, key);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
