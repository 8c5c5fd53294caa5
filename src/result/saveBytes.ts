import { messageOf } from '../base/errors.ts';
import { describeSize } from '../base/size.ts';
import { headOf, judgeMediaType, type MediaClues, sizeOf } from '../media/sniff.ts';
import type {
  Asset,
  AssetBytes,
  AssetPart,
  NewAsset,
  ProblemPart,
  ResultAssets,
  SpilledBytes,
} from '../ports/results.ts';

import { nameFromUri } from './blocks.ts';
import type { Found } from './findBytes.ts';
import { describeAsset } from './modelView.ts';
import { summarize } from './summary.ts';

/** What has to be read of files that are too long for memory. */
export interface SpilledFiles {
  holds(path: string, bytes: AssetBytes): Promise<boolean>;
  tail(bytes: SpilledBytes): Promise<Uint8Array>;
}

export interface ByteSaverOptions {
  readonly assets: ResultAssets;
  readonly maxAssetBytes: number;
  readonly files: SpilledFiles;
}

/** What is said about bytes by the place where they were. */
export interface Place extends Omit<MediaClues, 'bytes' | 'tail'> {
  /** What to call them in a message. */
  readonly what: string;
}

export interface SavedPart {
  readonly part: AssetPart | ProblemPart;
  readonly saved: Saved;
}

/** Makes files of bytes. What was announced as a possible repetition is not saved again but known afterwards. */
export class ByteSaver {
  readonly #options: ByteSaverOptions;
  readonly #announced = new Map<number, Found[]>();
  readonly #known = new Map<Found, Saved>();

  constructor(options: ByteSaverOptions) {
    this.#options = options;
  }

  announce(found: Found): void {
    const sameSize = this.#announced.get(lengthOf(found));
    if (sameSize) sameSize.push(found);
    else this.#announced.set(lengthOf(found), [found]);
  }

  /** What an announced one is the same as, if that has been saved. */
  known(found: Found): Saved | undefined {
    return this.#known.get(found);
  }

  async save(found: Found, place: Place): Promise<SavedPart> {
    // Compared before it is saved, while its file is where it was.
    const twins = await this.#twinsOf(found);
    const result = await this.#save(found, place);
    for (const twin of twins) this.#known.set(twin, result.saved);
    return result;
  }

  async store(asset: NewAsset, name?: string): Promise<AssetPart | ProblemPart> {
    try {
      const { number, path } = await this.#options.assets.save(asset);
      // Only files carry a name: the contract's links to images and sounds are numbered alone.
      const named = asset.kind === 'file' && name !== undefined ? { name } : {};
      return { kind: 'asset', asset: { kind: asset.kind, number, path, ...named } };
    } catch (error) {
      return problem(messageOf(error));
    }
  }

  async #save(found: Found, { what, ...clues }: Place): Promise<SavedPart> {
    const size = lengthOf(found);
    const { maxAssetBytes, files } = this.#options;
    const lost = (message: string): SavedPart => ({ part: problem(message), saved: { size } });
    if (found.kind === 'failed') return lost(`The ${what} could not be saved: ${found.reason}.`);
    if (found.kind === 'refused' || size > maxAssetBytes) return lost(tooLarge(what, size, maxAssetBytes));
    if (size === 0) return lost(`The ${what} could not be saved: it is empty.`);
    const { bytes } = found;
    const tail = bytes instanceof Uint8Array ? undefined : await files.tail(bytes).catch(() => undefined);
    const declared = clues.declared ?? found.declared;
    const { kind, extension, types } = await judgeMediaType({ ...clues, declared, bytes, tail });
    const part = await this.store({ kind, extension, bytes }, nameFromUri(clues.uri));
    if (part.kind !== 'asset') return { part, saved: { size } };
    return { part, saved: { size, asset: part.asset, mimeType: types[0] ?? 'application/octet-stream' } };
  }

  async #twinsOf(found: Found): Promise<readonly Found[]> {
    const twins: Found[] = [];
    for (const each of this.#announced.get(lengthOf(found)) ?? []) {
      if (!this.#known.has(each) && (await this.#areSame(each, found))) twins.push(each);
    }
    return twins;
  }

  /** For two of one size: by their heads, then by all that is in their files. */
  async #areSame(a: Found, b: Found): Promise<boolean> {
    if (a === b) return true;
    if (a.kind !== 'bytes' || b.kind !== 'bytes') return a.kind === b.kind;
    const [headA, headB] = [headOf(a.bytes), headOf(b.bytes)];
    const known = Math.min(headA.length, headB.length);
    if (Buffer.compare(headA.subarray(0, known), headB.subarray(0, known)) !== 0) return false;
    const { files } = this.#options;
    if (!(a.bytes instanceof Uint8Array)) return files.holds(a.bytes.path, b.bytes).catch(() => false);
    if (!(b.bytes instanceof Uint8Array)) return files.holds(b.bytes.path, a.bytes).catch(() => false);
    return true;
  }
}

export function lengthOf(found: Found): number {
  return found.kind === 'bytes' ? sizeOf(found.bytes) : found.size;
}

export function problem(message: string): ProblemPart {
  return { kind: 'problem', message };
}

function tooLarge(what: string, bytes: number, allowed: number): string {
  return `The ${what} was not saved: it has ${describeSize(bytes)}, and filechat.results.maxAssetBytes allows ${describeSize(allowed)}.`;
}

/** What has become of some bytes. */
export interface Saved {
  readonly size: number;
  /** Nothing when they could not be saved. */
  readonly asset?: Asset;
  readonly mimeType?: string;
}

/**
 * The words that stand where bytes were in JSON. They hold no sign that a string, at whatever depth, would
 * have to escape.
 */
export function valueWords({ asset, size, mimeType = '' }: Saved, found?: Found): string {
  if (!asset) return `(${describeSize(size)}, not saved)`;
  const summary = found?.kind === 'bytes' ? found.summary : undefined;
  if (summary === undefined) return `(${mimeType}, ${size} bytes, saved as ${asset.kind} ${asset.number})`;
  const words = summarize(describeAsset(asset, mimeType, { size }), summary);
  return words.replace(/["\\]/g, "'");
}

/** The words in a text that people read; what they name follows the text. */
export function mentionWords({ asset }: Saved, found: Found): string {
  const label = found.kind === 'bytes' && found.label ? ` “${found.label}”` : '';
  return asset ? `[${asset.kind} ${asset.number}${label}: see below]` : `[not saved${label}: see below]`;
}

export function looksLikeJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

const MAX_LAID_OUT_CHARS = 100_000;

/** JSON in one line, laid out for reading, if nothing but its white space changes by that. */
export function layOutJson(text: string): string {
  if (text.length > MAX_LAID_OUT_CHARS || text.includes('\n')) return text;
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}
