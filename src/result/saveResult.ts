import { TimeSlice } from '../base/async.ts';
import { mapStrings, parseJson, sameJson } from '../base/json.ts';
import { decodeUtf8 } from '../base/lines.ts';
import { describeSize } from '../base/size.ts';
import { detectMarkup } from '../media/sniff.ts';
import type { ProblemPart, ResultPart, Spills, TextPart } from '../ports/results.ts';
import type { ToolName } from '../ports/tools.ts';
import { type Block, type BytesBlock, cleanText, nameFromUri, problem, type RawResult } from './blocks.ts';
import type { Found, Piece } from './findBase64.ts';
import { extractFromValue, type FieldRule, fieldProblems, foundIn, isFound } from './findBytes.ts';
import { isJson, looksLikeJson } from './jsonText.ts';
import { detectTextType, previewText } from './markdown.ts';
import { describeAsset, isTooLong, MAX_SUMMARY_TOKENS, SUMMARY_NAMES, unknownNames } from './modelView.ts';
import {
  type ByteSaver,
  describeInJson,
  describeInText,
  lengthOf,
  readBase64,
  refuseType,
  type Saved,
  type SaveLimits,
} from './saveBytes.ts';

export type Extract = (text: string) => Promise<readonly Piece[]>;

export interface ResultLimits extends SaveLimits {
  readonly maxInlineChars: number;
}

/** A file in the server's result, and its block if the block is nothing else. */
interface SentFile {
  readonly found: Found;
  readonly block?: Block;
}

export interface SaveContext {
  readonly spills?: Spills | undefined;
  readonly rules: readonly FieldRule[];
  readonly extract: Extract;
}

/** The files that the result would have without the transformer. */
export async function findFiles(
  { blocks, structured }: RawResult,
  { maxAssetBytes }: ResultLimits,
  context: SaveContext,
): Promise<readonly SentFile[]> {
  const files: SentFile[] = [];
  for (const block of blocks) {
    if (block.kind === 'bytes') {
      const found = readData(block.data, block.block, { maxAssetBytes, spills: context.spills });
      if (found.kind !== 'problem') files.push({ found, block });
    } else if (block.kind === 'text') {
      const pieces = await context.extract(block.text);
      const founds = isPage(block.text, pieces) ? [] : pieces.filter(isFound);
      files.push(...founds.map((found) => (pieces.length === 1 ? { found, block } : { found })));
    } else if (block.kind === 'data') {
      files.push(...(await context.extract(block.json)).filter(isFound).map((found) => ({ found })));
    }
  }
  const own = [...(await extractFromValue(structured, context)).values()].flat();
  files.push(...own.filter(isFound).map((found) => ({ found })));
  return files.filter(({ found }) => lengthOf(found) > 0);
}

function readData(
  data: string,
  what: string,
  { maxAssetBytes, spills }: { readonly maxAssetBytes: number; readonly spills: Spills | undefined },
): Found | ProblemPart {
  const spill = spills?.find(data);
  if (spill) return foundIn(spill);
  const read = readBase64(data, maxAssetBytes);
  return read.kind === 'failed' ? problem(`The ${what} could not be saved: ${read.reason}.`) : read;
}

type Extracted = ReadonlyMap<string, readonly Piece[]>;

/** Converts the blocks of one result into parts, and remembers them for the structured content. */
export class ResultSaver {
  readonly #limits: ResultLimits;
  readonly #context: SaveContext;
  readonly #bytes: ByteSaver;
  /** For strings of blocks that contain bytes: the text that replaces them. */
  readonly #replaced = new Map<string, string>();
  readonly #texts: string[] = [];
  /** In the summaries of `results.fields`. */
  readonly #unknownNames = new Set<string>();
  #hasLongSummary = false;

  constructor(bytes: ByteSaver, limits: ResultLimits, context: SaveContext) {
    this.#bytes = bytes;
    this.#limits = limits;
    this.#context = context;
  }

  /** Saves the files of the server's result that the transformed result does not have. */
  async saveLost(sent: readonly SentFile[], { server, tool }: ToolName): Promise<readonly ResultPart[]> {
    const lost: ResultPart[] = [];
    for (const { found, block } of sent) {
      if (this.#bytes.known(found) || this.#shows(found)) continue;
      if (block) lost.push(...(await this.saveBlock(block)));
      else await this.#saveOwn(found, lost);
    }
    if (lost.length === 0) return [];
    const [files, as] =
      lost.length === 1
        ? ['a file', 'Here it is as the server sent it']
        : [`${lost.length} files`, 'Here they are as the server sent them'];
    return [problem(`Your transformer omitted ${files} of the result of ${server}.${tool}. ${as}:`), ...lost];
  }

  /** Whether a text of the result contains the text that the bytes are. */
  #shows(found: Found): boolean {
    const bytes = found.kind === 'bytes' ? found.bytes : undefined;
    const text = bytes instanceof Uint8Array ? decodeUtf8(bytes) : undefined;
    if (text === undefined) return false;
    const written = [cleanText(text).trim(), JSON.stringify(text.trim()).slice(1, -1)];
    return this.#texts.some((shown) => written.some((each) => shown.includes(each)));
  }

  async saveBlock(block: Block): Promise<readonly ResultPart[]> {
    const parts = await this.#saveBlock(block);
    return block.audience === 'user' ? parts.map((part) => ({ ...part, audience: 'user' })) : parts;
  }

  async #saveBlock(block: Block): Promise<readonly ResultPart[]> {
    if (block.kind === 'bytes') return [await this.#saveBytesBlock(block)];
    if (block.kind === 'text') return this.#saveTextBlock(block);
    if (block.kind !== 'data') return [block];
    const parts = await this.#saveTextBlock({ kind: 'text', text: block.json });
    return parts.map((part) => (part.kind === 'text' ? { kind: 'data', json: part.text } : part));
  }

  /** Returns no part if the content only repeats the blocks. Assets that are in no block follow it. */
  async saveStructured(
    value: unknown,
    extracted: Extracted,
    content: unknown,
  ): Promise<readonly ResultPart[]> {
    if (value === undefined || value === null) return [];
    const own: ResultPart[] = [];
    const replaced = new Map(this.#replaced);
    for (const [text, pieces] of extracted) {
      const shown: string[] = [];
      for (const piece of pieces) {
        if (!isFound(piece)) shown.push(piece);
        else shown.push(this.#describe(this.#bytes.known(piece) ?? (await this.#saveOwn(piece, own)), piece));
      }
      replaced.set(text, shown.join(''));
    }
    const slice = new TimeSlice();
    const filled = mapStrings(value, (text) => replaced.get(text) ?? text);
    if (slice.isOver()) await slice.pause();
    const blocks = [mapStrings(content, (text) => this.#replaced.get(text) ?? text), ...this.#texts];
    if (own.length === 0 && isRepeated(filled, blocks)) return [];
    if (slice.isOver()) await slice.pause();
    const json = JSON.stringify(filled, null, 2);
    this.#texts.push(json);
    if (json.length <= this.#limits.maxInlineChars) return [{ kind: 'data', json }, ...own];
    if (slice.isOver()) await slice.pause();
    return [...own, ...(await this.saveLongText({ kind: 'text', text: json }))];
  }

  /** Messages about the rules of `results.fields` that had no effect or not the whole one. */
  fieldProblems(): readonly string[] {
    const names = [...this.#unknownNames].map((name) => `{${name}}`).join(', ');
    const known = SUMMARY_NAMES.map((name) => `{${name}}`).join(', ');
    const long = `The summary with its values has more than ${MAX_SUMMARY_TOKENS} tokens, so the usual line is shown. Shorten it.`;
    const unknown = `The summary names ${names}, which is neither a field beside the bytes nor one of ${known}.`;
    return [
      ...fieldProblems(this.#context.rules),
      ...(names === '' ? [] : [unknown]),
      ...(this.#hasLongSummary ? [long] : []),
    ];
  }

  #describe(saved: Saved, found: Found): string {
    const summary = found.kind === 'bytes' ? found.summary : undefined;
    for (const name of unknownNames(summary ?? '')) this.#unknownNames.add(name);
    const { asset, size, mimeType = '' } = saved;
    if (asset && summary !== undefined && isTooLong(summary, describeAsset(asset, mimeType, { size })))
      this.#hasLongSummary = true;
    return describeInJson(saved, found);
  }

  async #saveOwn(found: Found, own: ResultPart[]): Promise<Saved> {
    const { part, saved } = await this.#bytes.save(found, { what: 'data', block: 'file' });
    own.push(part);
    return saved;
  }

  async #saveBytesBlock({ block, data, declared, uri, name }: BytesBlock): Promise<ResultPart> {
    const what = block === 'file' ? `file ${nameFromUri(uri) ?? name ?? ''}`.trim() : block;
    const found = readData(data, what, { ...this.#limits, spills: this.#context.spills });
    if (found.kind === 'problem') return found;
    const { part, saved } = await this.#bytes.save(found, { what, declared, uri, name, block });
    if (data !== '') this.#replaced.set(data, describeInJson(saved));
    return part;
  }

  async #saveTextBlock(block: TextPart): Promise<readonly ResultPart[]> {
    const { text, source } = block;
    const pieces = await this.#context.extract(text);
    const founds = pieces.filter(isFound);
    const [only] = founds;
    if (!only) return this.#keepText({ ...block, text: pieces.join('') });
    if (founds.length === 1 && pieces.every((piece) => isFound(piece) || piece.trim() === '')) {
      const declared = (only.kind === 'bytes' && only.declared) || source?.mimeType;
      const origin = { what: 'data', block: 'file', declared, uri: source?.uri } as const;
      const { part, saved } = await this.#bytes.save(only, origin);
      this.#replaced.set(text, describeInJson(saved));
      return [part];
    }
    if (isPage(text, pieces)) {
      return this.saveLongText(block, { shown: pieces.map(describePiece).join('') });
    }
    return this.#saveMixedText(block, pieces);
  }

  async #saveMixedText(block: TextPart, pieces: readonly Piece[]): Promise<readonly ResultPart[]> {
    const inJson = looksLikeJson(block.text);
    const parts: ResultPart[] = [];
    const shown: string[] = [];
    for (const piece of pieces) {
      if (!isFound(piece)) shown.push(piece);
      else {
        const { part, saved } = await this.#bytes.save(piece, { what: 'data', block: 'file' });
        parts.push(part);
        shown.push(inJson ? this.#describe(saved, piece) : describeInText(saved, piece));
      }
    }
    const kept = await this.#keepText({ ...block, text: shown.join('') });
    // A text that became a file was numbered after the assets in it.
    return kept.some(({ kind }) => kind === 'asset') ? [...parts, ...kept] : [...kept, ...parts];
  }

  async #keepText(part: TextPart): Promise<readonly ResultPart[]> {
    const { text, source } = part;
    this.#texts.push(text);
    if (text.length > this.#limits.maxInlineChars) return this.saveLongText(part);
    return [source === undefined && isJson(text) ? { kind: 'data', json: text } : part];
  }

  /** Text that may not be saved leaves its preview. `text/*` allows text of every format. */
  async saveLongText(
    part: TextPart,
    { shown = part.text, isRest = false } = {},
  ): Promise<readonly ResultPart[]> {
    const { text, source } = part;
    const type = detectTextType(text, source?.mimeType);
    const about = { types: [type.types[0], 'text/*'], size: Buffer.byteLength(text) } as const;
    const refusal = refuseType('rest of this text', about, this.#limits);
    if (refusal) return [{ ...part, text: previewText(shown) }, refusal];
    const stored = await this.#bytes.saveText(text, type, nameFromUri(source?.uri), { isRest });
    return [{ ...stored, preview: previewText(shown) }];
  }
}

/** HTML or SVG would break without its images, so it is saved as a whole. */
function isPage(text: string, pieces: readonly Piece[]): boolean {
  return detectMarkup(text) !== undefined && pieces.filter(isFound).every(isInMemory);
}

function isInMemory(found: Found): boolean {
  return found.kind === 'bytes' && found.bytes instanceof Uint8Array;
}

function describePiece(piece: Piece): string {
  return isFound(piece) ? `(${describeSize(lengthOf(piece))} of base64)` : piece;
}

/** Servers repeat structured content in a block for older clients. */
function isRepeated(structured: unknown, blocks: readonly unknown[]): boolean {
  const wrapped = onlyValue(structured);
  const known = blocks.flatMap(withParsed);
  const isKnown = (value: unknown) => known.some((each) => sameJson(each, value));
  return isKnown(structured) || (wrapped !== undefined && isKnown(wrapped));
}

function withParsed(value: unknown): readonly unknown[] {
  if (typeof value !== 'string' || !/^\s*["[{\d-]|^\s*(?:true|false|null)\s*$/.test(value)) return [value];
  const parsed = parseJson(value);
  return parsed === undefined ? [value] : [value, parsed];
}

/** Libraries wrap a plain return value as `{ "result": … }`. */
function onlyValue(value: unknown): unknown {
  const values = typeof value === 'object' && value !== null ? Object.values(value) : [];
  return values.length === 1 ? values[0] : undefined;
}
