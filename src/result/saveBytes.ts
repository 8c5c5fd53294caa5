import { decodeBase64, decodedSizeAtMost, isSurelyLarger } from '../base/base64.ts';
import { BUDGET } from '../base/budget.ts';
import { groupBy } from '../base/collections.ts';
import { messageOf } from '../base/errors.ts';
import { defined } from '../base/json.ts';
import { describeSize, LARGE_FILE_BYTES } from '../base/size.ts';
import { detectMediaType, headOf, type MediaClues, sizeOf } from '../media/sniff.ts';
import { isAllowedType, listTypes, type MediaType } from '../media/table.ts';
import type { MadeBytes, MadeFile } from '../ports/models.ts';
import type {
  Asset,
  AssetBytes,
  AssetPart,
  AssetStore,
  NewAsset,
  ProblemPart,
  ResultAssets,
  SpilledBytes,
  Spills,
} from '../ports/results.ts';
import { cleanText, nameBeside, nameFromUri, problem } from './blocks.ts';
import type { Found } from './findBase64.ts';
import { foundIn, readText } from './findBytes.ts';
import { describeAsset, summarize } from './modelView.ts';

export interface SpilledFiles {
  holds(path: string, bytes: AssetBytes): Promise<boolean>;
  tail(bytes: SpilledBytes): Promise<Uint8Array>;
  read(bytes: SpilledBytes): Promise<Uint8Array>;
}

export interface SaveLimits {
  readonly maxAssetBytes: number;
  /** `image/*`, `application/pdf`; all types by default. */
  readonly allowedMimeTypes?: readonly string[];
  /** All files of one result. */
  readonly maxFiles?: number;
  readonly maxTotalBytes?: number;
}

interface Origin extends Omit<MediaClues, 'bytes' | 'tail'> {
  /** The name of the bytes in messages. */
  readonly what: string;
  /** For the link, if the URI has none. */
  readonly name?: string | undefined;
}

interface SavedPart {
  readonly part: AssetPart | ProblemPart;
  readonly saved: Saved;
}

/** Saves bytes as assets. Bytes that were announced and equal saved ones are not saved again: see `known`. */
export class ByteSaver {
  readonly #assets: ResultAssets;
  readonly #files: SpilledFiles;
  readonly #limits: SaveLimits;
  /** By size. */
  #announced: ReadonlyMap<number, readonly Found[]> = new Map();
  readonly #known = new Map<Found, Saved>();
  /** By path: a transformer may use a file twice, and saving has moved it. */
  readonly #moved = new Map<string, SavedPart>();
  #savedFiles = 0;
  #savedBytes = 0;

  constructor(assets: ResultAssets, files: SpilledFiles, limits: SaveLimits) {
    this.#assets = assets;
    this.#files = files;
    this.#limits = limits;
  }

  announce(found: readonly Found[]): void {
    this.#announced = groupBy(found, lengthOf);
  }

  /** The saved bytes that equal announced ones. */
  known(found: Found): Saved | undefined {
    return this.#known.get(found);
  }

  async save(found: Found, origin: Origin): Promise<SavedPart> {
    const path = found.kind === 'bytes' && !(found.bytes instanceof Uint8Array) ? found.bytes.path : '';
    const moved = this.#moved.get(path);
    if (moved) return moved;
    // Compared before saving, which moves the file.
    const duplicates = await this.#duplicatesOf(found);
    const result = await this.#save(found, origin);
    if (path !== '' && result.saved.asset) this.#moved.set(path, result);
    for (const duplicate of duplicates) this.#known.set(duplicate, result.saved);
    return result;
  }

  async saveText(
    bytes: AssetBytes,
    { extension, types: [mimeType] }: MediaType,
    name: string | undefined,
    { isRest = false } = {},
  ): Promise<AssetPart | ProblemPart> {
    const size = sizeOf(bytes);
    const over = isRest ? undefined : this.#overTotal(size);
    if (over !== undefined) return problem(`The text was not saved: ${over}.`);
    // Compared before saving, which moves the file.
    const duplicates = await this.#duplicatesOf({ kind: 'bytes', bytes });
    const part = await this.#store({ kind: 'file', extension, bytes }, name);
    if (part.kind !== 'asset') return part;
    for (const duplicate of duplicates) this.#known.set(duplicate, { size, asset: part.asset, mimeType });
    return part;
  }

  async #store(asset: NewAsset, name?: string): Promise<AssetPart | ProblemPart> {
    try {
      // The format of links has names for files only.
      const label = asset.kind === 'file' ? name : undefined;
      const { number, path } = await this.#assets.save({ ...asset, ...defined({ label }) });
      this.#savedFiles += 1;
      this.#savedBytes += sizeOf(asset.bytes);
      return { kind: 'asset', asset: { kind: asset.kind, number, path, ...defined({ name: label }) } };
    } catch (error) {
      return problem(messageOf(error));
    }
  }

  /** Why a file is too much for the result, as the end of a sentence. */
  #overTotal(size: number): string | undefined {
    const { maxFiles = BUDGET.resultFiles, maxTotalBytes = BUDGET.resultBytes } = this.#limits;
    if (this.#savedFiles >= maxFiles) return `a result can have at most ${maxFiles} files`;
    if (this.#savedBytes + size <= maxTotalBytes) return undefined;
    return `it has ${describeSize(size)}, and the files of a result can have at most ${describeSize(maxTotalBytes)} in all`;
  }

  async #save(found: Found, { what, ...clues }: Origin): Promise<SavedPart> {
    const size = lengthOf(found);
    const lost = (message: string): SavedPart => ({ part: problem(message), saved: { size } });
    if (found.kind === 'failed') {
      const failure = problem(`The ${what} could not be saved: ${found.reason}.`);
      const { preview } = found;
      const part = preview === undefined ? failure : { ...failure, preview: cleanText(preview) };
      return { part, saved: { size } };
    }
    const { maxAssetBytes } = this.#limits;
    const over = this.#overTotal(size);
    if (over !== undefined && size <= maxAssetBytes) return lost(`The ${what} was not saved: ${over}.`);
    if (found.kind === 'refused' || size > maxAssetBytes) {
      const [has, allowed] = [describeSize(size), describeSize(maxAssetBytes)];
      // Only the beginning of a long one is read.
      const more = has === allowed ? 'more than ' : '';
      return lost(
        `The ${what} was not saved: it has ${more}${has}, and filechat.results.maxAssetBytes allows ${allowed}.`,
      );
    }
    if (size === 0) return lost(`The ${what} could not be saved: it is empty.`);
    const { bytes } = found;
    const tail =
      bytes instanceof Uint8Array ? undefined : await this.#files.tail(bytes).catch(() => undefined);
    const declared = clues.declared ?? found.declared;
    const name = clues.name ?? found.name;
    const uri = clues.uri ?? name;
    const { kind, extension, types } = await detectMediaType({ ...clues, uri, declared, bytes, tail });
    const refusal = refuseType(what, { types: [types[0]], size }, this.#limits);
    if (refusal) return { part: refusal, saved: { size } };
    const part = await this.#store({ kind, extension, bytes }, nameFromUri(clues.uri) ?? name);
    if (part.kind !== 'asset') return { part, saved: { size } };
    return { part, saved: { size, asset: part.asset, mimeType: types[0] } };
  }

  async #duplicatesOf(found: Found): Promise<readonly Found[]> {
    const duplicates: Found[] = [];
    for (const each of this.#announced.get(lengthOf(found)) ?? []) {
      if (!this.#known.has(each) && (await this.#areSame(each, found))) duplicates.push(each);
    }
    return duplicates;
  }

  async #areSame(a: Found, b: Found): Promise<boolean> {
    if (a === b) return true;
    if (a.kind !== 'bytes' || b.kind !== 'bytes') return a.kind === b.kind;
    const [headA, headB] = [headOf(a.bytes), headOf(b.bytes)];
    const known = Math.min(headA.length, headB.length);
    if (Buffer.compare(headA.subarray(0, known), headB.subarray(0, known)) !== 0) return false;
    if (!(a.bytes instanceof Uint8Array)) return this.#files.holds(a.bytes.path, b.bytes).catch(() => false);
    if (!(b.bytes instanceof Uint8Array)) return this.#files.holds(b.bytes.path, a.bytes).catch(() => false);
    return true;
  }
}

/** Base64 or a data: URL. */
export function readBase64(data: string, maxBytes: number): MadeBytes {
  if (isSurelyLarger(data, maxBytes)) return { kind: 'refused', size: decodedSizeAtMost(data) };
  const decoded = decodeBase64(data);
  if (!decoded.ok) return { kind: 'failed', size: 0, reason: decoded.reason };
  return { kind: 'bytes', bytes: decoded.bytes, ...defined({ declared: decoded.mimeType }) };
}

/** The bytes of a field for base64, and why there are none. */
export async function readData(
  data: string,
  what: string,
  { maxAssetBytes, spills }: { readonly maxAssetBytes: number; readonly spills: Spills | undefined },
): Promise<Found | ProblemPart> {
  const spill = spills?.find(data);
  const text = spill ? await readText(spill) : data;
  if (spill && text === undefined) return foundIn(spill);
  const read = readBase64(text ?? data, maxAssetBytes);
  return read.kind === 'failed' ? problem(`The ${what} could not be saved: ${read.reason}.`) : read;
}

/** Undefined if one of the types is allowed. */
export function refuseType(
  what: string,
  { types, size }: { readonly types: readonly [string, ...string[]]; readonly size: number },
  { allowedMimeTypes = ['*/*'] }: SaveLimits,
): ProblemPart | undefined {
  if (types.some((type) => isAllowedType(type, allowedMimeTypes))) return undefined;
  return problem(
    `The ${what} was not saved: it is ${types[0]} (${describeSize(size)}), and filechat.results.allowedMimeTypes allows ${listTypes(allowedMimeTypes)}.`,
  );
}

export function lengthOf(found: Found): number {
  return found.kind === 'bytes' ? sizeOf(found.bytes) : found.size;
}

export interface Saved {
  readonly size: number;
  /** Undefined when the bytes could not be saved. */
  readonly asset?: Asset;
  readonly mimeType?: string;
}

/** Replaces bytes in JSON. Contains no character that would need escaping in a string, whatever the nesting. */
export function describeInJson({ asset, size, mimeType = '' }: Saved, found?: Found): string {
  if (!asset) return `(${describeSize(size)}, not saved)`;
  const summary = found?.kind === 'bytes' ? found.summary : undefined;
  if (summary === undefined) return `(${mimeType}, ${size} bytes, saved as ${asset.kind} ${asset.number})`;
  const words = summarize(describeAsset(asset, mimeType, { size }), summary);
  return words.replace(/["\\]/g, "'");
}

/** Replaces bytes in prose; the asset follows the text. */
export function describeInText({ asset }: Saved, found: Found): string {
  const label = found.kind === 'bytes' && found.label ? ` “${found.label}”` : '';
  return asset ? `[${asset.kind} ${asset.number}${label}: see below]` : `[not saved${label}: see below]`;
}

/** Saves the files that a model makes in one reply, by the rules for the files of one result. */
export class MadeFileSaver {
  readonly #limits: SaveLimits;
  readonly #bytes: ByteSaver;

  constructor(assets: ResultAssets, limits: SaveLimits) {
    this.#limits = limits;
    this.#bytes = new ByteSaver(assets, NO_SPILLS, limits);
  }

  /** Rejects only when the signal is aborted. */
  async save({ block, read }: MadeFile, signal?: AbortSignal): Promise<AssetPart | ProblemPart> {
    const made = await read(this.#limits.maxAssetBytes, signal);
    const name = nameBeside(made);
    const what = name === undefined ? block : `${block} ${name}`;
    const found =
      made.kind === 'bytes'
        ? { kind: made.kind, bytes: made.bytes, ...defined({ declared: made.declared, name }) }
        : made;
    const { part } = await this.#bytes.save(found, { what, block });
    return part.kind === 'asset' ? { ...part, asset: { ...part.asset, maker: 'model' } } : part;
  }
}

/** All bytes are in memory. */
export const NO_SPILLS = {
  holds: async () => false,
  tail: async () => new Uint8Array(),
  read: async () => new Uint8Array(),
};

/**
 * Runs work that saves the files of one result, and reports the large ones once, after it:
 * `cmdassets/a.png (12.6 MB), cmdassets/b.zip (10.5 MB)`.
 */
export async function reportingLargeFiles<T>(
  store: AssetStore,
  report: (files: string) => void,
  work: (assets: ResultAssets) => Promise<T>,
): Promise<T> {
  const assets = store.beginResult();
  const large: string[] = [];
  const save: ResultAssets['save'] = async (asset) => {
    const size = sizeOf(asset.bytes);
    const saved = await assets.save(asset);
    if (size >= LARGE_FILE_BYTES) large.push(`${saved.path} (${describeSize(size)})`);
    return saved;
  };
  try {
    return await work({
      spillFolder: (failure) => assets.spillFolder(failure),
      settle: async () => assets.settle?.(),
      save,
    });
  } finally {
    if (large.length > 0) report(large.join(', '));
  }
}
