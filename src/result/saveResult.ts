import { decodeBase64, decodedSizeAtMost, isSurelyLarger } from '../base/base64.ts';
import { mapStrings, sameJson } from '../base/json.ts';
import { describeSize } from '../base/size.ts';
import { judgeMarkup } from '../media/sniff.ts';
import type { ProblemPart, ResultAssets, ResultPart, TextPart } from '../ports/results.ts';

import { type Block, type BytesBlock, nameFromUri } from './blocks.ts';
import {
  type Found,
  isFound,
  type Piece,
  type TakeOutContext,
  takeOut,
  takeOutOfValue,
} from './findBytes.ts';
import { judgeTextType, previewText } from './markdown.ts';
import {
  ByteSaver,
  layOutJson,
  lengthOf,
  looksLikeJson,
  mentionWords,
  problem,
  type Saved,
  type SpilledFiles,
  valueWords,
} from './saveBytes.ts';

export interface ResultLimits {
  readonly maxInlineChars: number;
  readonly maxAssetBytes: number;
}

export interface ResultSaverOptions {
  readonly assets: ResultAssets;
  readonly limits: ResultLimits;
  readonly files: SpilledFiles;
  readonly context: TakeOutContext;
}

/** Structured content, and what is left of those strings in it that hold bytes. */
export interface Structured {
  readonly value: unknown;
  readonly taken: ReadonlyMap<string, readonly Piece[]>;
}

/** Makes parts of one result, block by block, and remembers them so that structured content can refer to them. */
export class ResultSaver {
  readonly #limits: ResultLimits;
  readonly #context: TakeOutContext;
  readonly #bytes: ByteSaver;
  /** For the strings of blocks that were bytes: the words that stand for them. */
  readonly #words = new Map<string, string>();
  /** The texts of the blocks, as they are shown. */
  readonly #said: string[] = [];

  constructor({ assets, limits, files, context }: ResultSaverOptions) {
    this.#limits = limits;
    this.#context = context;
    this.#bytes = new ByteSaver({ assets, files, maxAssetBytes: limits.maxAssetBytes });
  }

  /** To be called before the blocks are saved, so that what is in a block is not saved a second time. */
  async expect(value: unknown): Promise<Structured> {
    const taken = await takeOutOfValue(value, this.#context);
    for (const found of [...taken.values()].flat().filter(isFound)) this.#bytes.announce(found);
    return { value, taken };
  }

  async saveBlock(block: Block): Promise<readonly ResultPart[]> {
    const parts =
      block.kind === 'bytes'
        ? [await this.#saveBytesBlock(block)]
        : block.kind === 'text'
          ? await this.#saveTextBlock(block)
          : [block];
    return block.audience === 'user' ? parts.map((part) => ({ ...part, audience: 'user' })) : parts;
  }

  /** Shown when it says something that the blocks do not; after it, what it holds and no block does. */
  async saveStructured({ value, taken }: Structured, content: unknown): Promise<readonly ResultPart[]> {
    if (value === undefined || value === null) return [];
    const own: ResultPart[] = [];
    const words = new Map(this.#words);
    for (const [text, pieces] of taken) {
      const shown: string[] = [];
      for (const piece of pieces) {
        if (!isFound(piece)) shown.push(piece);
        else shown.push(valueWords(this.#bytes.known(piece) ?? (await this.#saveOwn(piece, own)), piece));
      }
      words.set(text, shown.join(''));
    }
    const filled = mapStrings(value, (text) => words.get(text) ?? text);
    const said = [mapStrings(content, (text) => this.#words.get(text) ?? text), ...this.#said];
    if (own.length === 0 && !saysMore(filled, said)) return [];
    const json = JSON.stringify(filled, null, 2);
    if (json.length <= this.#limits.maxInlineChars) return [{ kind: 'data', json }, ...own];
    return [...own, await this.#saveLongText({ kind: 'text', text: json })];
  }

  async #saveOwn(found: Found, own: ResultPart[]): Promise<Saved> {
    const { part, saved } = await this.#bytes.save(found, { what: 'data', block: 'file' });
    own.push(part);
    return saved;
  }

  async #saveBytesBlock({ block, data, declared, uri }: BytesBlock): Promise<ResultPart> {
    const what = block === 'file' ? `file ${nameFromUri(uri) ?? ''}`.trim() : block;
    const found = this.#readData(data, what);
    if (found.kind === 'problem') return found;
    const { part, saved } = await this.#bytes.save(found, { what, declared, uri, block });
    if (data !== '') this.#words.set(data, valueWords(saved));
    return part;
  }

  #readData(data: string, what: string): Found | ProblemPart {
    const spill = this.#context.spills?.find(data);
    if (spill?.kind === 'bytes') {
      const { kind, mimeType, original: _, ...bytes } = spill;
      return { kind, bytes, ...(mimeType === undefined ? {} : { declared: mimeType }) };
    }
    if (spill) return spill;
    if (isSurelyLarger(data, this.#limits.maxAssetBytes))
      return { kind: 'refused', size: decodedSizeAtMost(data) };
    const decoded = decodeBase64(data);
    if (!decoded.ok) return problem(`The ${what} could not be saved: ${decoded.reason}.`);
    const declared = decoded.mimeType === undefined ? {} : { declared: decoded.mimeType };
    return { kind: 'bytes', bytes: decoded.bytes, ...declared };
  }

  async #saveTextBlock(block: TextPart): Promise<readonly ResultPart[]> {
    const { text, source } = block;
    const pieces = await takeOut(text, this.#context);
    const founds = pieces.filter(isFound);
    const [only] = founds;
    if (!only) return [await this.#keepText({ ...block, text: pieces.join('') })];
    if (founds.length === 1 && pieces.every((piece) => isFound(piece) || piece.trim() === '')) {
      const declared = (only.kind === 'bytes' && only.declared) || source?.mimeType;
      const place = { what: 'data', block: 'file', declared, uri: source?.uri } as const;
      const { part, saved } = await this.#bytes.save(only, place);
      this.#words.set(text, valueWords(saved));
      return [part];
    }
    // A page or a drawing would be broken without its pictures: it is kept whole, as a file.
    if (judgeMarkup(text) && founds.every(isInMemory)) {
      return [await this.#saveLongText(block, pieces.map(describePiece).join(''))];
    }
    return this.#saveMixedText(block, pieces);
  }

  /** A text with things in it: the text first, then the things in their order. */
  async #saveMixedText(block: TextPart, pieces: readonly Piece[]): Promise<readonly ResultPart[]> {
    const isJson = looksLikeJson(block.text);
    const parts: ResultPart[] = [];
    const shown: string[] = [];
    for (const piece of pieces) {
      if (!isFound(piece)) shown.push(piece);
      else {
        const { part, saved } = await this.#bytes.save(piece, { what: 'data', block: 'file' });
        parts.push(part);
        shown.push(isJson ? valueWords(saved, piece) : mentionWords(saved, piece));
      }
    }
    const text = isJson ? layOutJson(shown.join('')) : shown.join('');
    const kept = await this.#keepText({ ...block, text });
    // A text that became a file was numbered after what was in it.
    return kept.kind === 'asset' ? [...parts, kept] : [kept, ...parts];
  }

  /** The last layer: what is too long to show becomes a file. */
  async #keepText(part: TextPart): Promise<ResultPart> {
    this.#said.push(part.text);
    return part.text.length > this.#limits.maxInlineChars ? this.#saveLongText(part) : part;
  }

  async #saveLongText({ text, source }: TextPart, shown = text): Promise<ResultPart> {
    const { extension } = judgeTextType(text, source?.mimeType);
    const bytes = new TextEncoder().encode(text);
    const part = await this.#bytes.store({ kind: 'file', extension, bytes }, nameFromUri(source?.uri));
    return part.kind === 'asset' ? { ...part, preview: previewText(shown) } : part;
  }
}

function isInMemory(found: Found): boolean {
  return found.kind === 'bytes' && found.bytes instanceof Uint8Array;
}

/** In the preview of a page that keeps its pictures. */
function describePiece(piece: Piece): string {
  return isFound(piece) ? `(${describeSize(lengthOf(piece))} of base64)` : piece;
}

/**
 * Whether structured content says something that the blocks do not: servers send the same thing both ways
 * for the sake of old clients. Both sides have words where bytes were.
 */
function saysMore(structured: unknown, said: readonly unknown[]): boolean {
  const wrapped = onlyValue(structured);
  const known = said.flatMap(whatItSays);
  const repeats = (value: unknown) => known.some((each) => sameJson(each, value));
  return !repeats(structured) && !(wrapped !== undefined && repeats(wrapped));
}

/** A text, as text and, if it can be read so, as JSON. */
function whatItSays(said: unknown): readonly unknown[] {
  if (typeof said !== 'string' || !/^\s*["[{\d-]|^\s*(?:true|false|null)\s*$/.test(said)) return [said];
  try {
    return [said, JSON.parse(said)];
  } catch {
    return [said];
  }
}

/** Libraries wrap a plain return value as `{ "result": … }`. */
function onlyValue(value: unknown): unknown {
  const values = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return values.length === 1 ? values[0] : undefined;
}
