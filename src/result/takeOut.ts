import { decodeBase64 } from '../base/base64.ts';
import { mapStrings } from '../base/json.ts';
import type { Spills } from '../ports.ts';
import { MIN_RUN_CHARS } from './base64Runs.ts';
import { type FieldHit, type FieldRule, findFields, findFieldsInText } from './fields.ts';
import { type Found, findBytes, judgeSpill, type Piece } from './findBytes.ts';
import { PLACEHOLDER } from './placeholder.ts';

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
