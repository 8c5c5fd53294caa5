import { TimeSlice } from '../base/async.ts';
import { messageOf } from '../base/errors.ts';
import { jsonChars, mapStrings } from '../base/json.ts';
import { decodeUtf8 } from '../base/lines.ts';
import { describeSize } from '../base/size.ts';
import { detectMarkup, sizeOf } from '../media/sniff.ts';
import type { MediaType } from '../media/table.ts';
import type { AssetBytes, ResultPart, Spills, TextPart } from '../ports/results.ts';
import type { ToolName } from '../ports/tools.ts';
import { type Block, type BytesBlock, cleanText, nameFromUri, problem, type RawResult } from './blocks.ts';
import type { Found, Piece } from './findBase64.ts';
import {
  type Extract,
  extractFromValue,
  type FieldRule,
  fieldProblems,
  isFound,
  type Search,
  spilledText,
} from './findBytes.ts';
import { isJson, looksLikeJson } from './jsonText.ts';
import { detectTextType, previewText } from './markdown.ts';
import { describeAsset, isTooLong, MAX_SUMMARY_TOKENS, SUMMARY_NAMES, unknownNames } from './modelView.ts';
import { isRepeated } from './repeated.ts';
import {
  type ByteSaver,
  describeInJson,
  describeInText,
  lengthOf,
  readData,
  refuseType,
  type Saved,
  type SaveLimits,
} from './saveBytes.ts';
import { joined, onlyWindow, TextEnds, type TextPieces } from './textWindows.ts';

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
  readonly search: Search;
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
      const found = await readData(block.data, block.block, { maxAssetBytes, spills: context.spills });
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

/** Texts in files are longer. */
const MIN_COMPARED_CHARS = 100_000;

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
    const slice = new TimeSlice();
    const filled = await this.#fill(value, extracted, own);
    if (slice.isOver()) await slice.pause();
    const blocks = [mapStrings(content, (text) => this.#replaced.get(text) ?? text), ...this.#texts];
    if (own.length === 0 && isRepeated(filled, blocks)) return [];
    if (slice.isOver()) await slice.pause();
    const spilled = await this.#spilledTexts(filled);
    if (own.length === 0 && isRepeated(filled, spilled)) return [];
    const json = JSON.stringify(filled, null, 2);
    this.#texts.push(json);
    if (json.length <= this.#limits.maxInlineChars) return [{ kind: 'data', json }, ...own];
    if (slice.isOver()) await slice.pause();
    return [...own, ...(await this.saveLongText({ kind: 'text', text: json }))];
  }

  /** Replaces the bytes in structured content, and adds those that are in no block to `own`. */
  async #fill(value: unknown, extracted: Extracted, own: ResultPart[]): Promise<unknown> {
    const replaced = new Map(this.#replaced);
    for (const [text, pieces] of extracted) {
      const shown: string[] = [];
      for (const piece of pieces) {
        if (!isFound(piece)) shown.push(piece);
        else shown.push(this.#describe(this.#bytes.known(piece) ?? (await this.#saveOwn(piece, own)), piece));
      }
      replaced.set(text, shown.join(''));
    }
    return mapStrings(value, (text) => replaced.get(text) ?? text);
  }

  /** The texts of blocks that are in files, if structured content can be the same. */
  async #spilledTexts(value: unknown): Promise<readonly string[]> {
    if (jsonChars(value, MIN_COMPARED_CHARS) <= MIN_COMPARED_CHARS) return [];
    const pieces = await Promise.all(this.#texts.map((text) => spilledText(text, this.#context.spills)));
    const spilled = pieces.filter((each) => each !== undefined);
    return Promise.all(spilled.map(async (each) => cleanText(await joined(each()))));
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
    const found = await readData(data, what, { ...this.#limits, spills: this.#context.spills });
    if (found.kind === 'problem') return found;
    const { part, saved } = await this.#bytes.save(found, { what, declared, uri, name, block });
    if (data !== '') this.#replaced.set(data, describeInJson(saved));
    return part;
  }

  async #saveTextBlock(block: TextPart): Promise<readonly ResultPart[]> {
    const { text, source } = block;
    const spilled = await spilledText(text, this.#context.spills);
    if (spilled) return this.#saveSpilledText(block, spilled);
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
    for (const piece of pieces)
      shown.push(isFound(piece) ? await this.#saveInText(piece, parts, inJson) : piece);
    return this.#keepMixedText({ ...block, text: shown.join('') }, parts);
  }

  async #keepMixedText(text: TextPart, parts: readonly ResultPart[]): Promise<readonly ResultPart[]> {
    const kept = await this.#keepText(text);
    // A text that became a file was numbered after the assets in it.
    return kept.some(({ kind }) => kind === 'asset') ? [...parts, ...kept] : [...kept, ...parts];
  }

  async #saveInText(found: Found, parts: ResultPart[], inJson: boolean): Promise<string> {
    const saved = await this.#saveOwn(found, parts);
    return inJson ? this.#describe(saved, found) : describeInText(saved, found);
  }

  async #keepText(part: TextPart): Promise<readonly ResultPart[]> {
    const { text, source } = part;
    this.#texts.push(text);
    if (text.length > this.#limits.maxInlineChars) return this.saveLongText(part);
    return [source === undefined && isJson(text) ? { kind: 'data', json: text } : part];
  }

  /** Text that is read into memory one part at a time. */
  async #saveSpilledText(block: TextPart, spilled: TextPieces): Promise<readonly ResultPart[]> {
    this.#texts.push(block.text);
    const only = await onlyWindow(spilled());
    if (only !== undefined) return this.#saveTextBlock({ ...block, text: only });
    const shown = new TextEnds(this.#limits.maxInlineChars);
    const parts: ResultPart[] = [];
    const text = this.#replaceBytes(this.#context.search(block.text, spilled), shown, parts);
    const bytes = await this.#context.spills?.write(text).catch(messageOf);
    const { whole } = shown;
    // Without its bytes, the text is short.
    if (whole !== undefined && !detectMarkup(whole))
      return this.#keepMixedText({ ...block, text: whole }, parts);
    const type = detectTextType(shown.text, block.source, true);
    if (typeof bytes === 'object')
      return [...parts, ...(await this.#saveLong(block, { bytes, type, shown: shown.text }))];
    return [
      ...parts,
      { ...problem(`The text could not be saved: ${bytes}.`), preview: previewText(shown.text) },
    ];
  }

  /** Yields what goes to the file of a text. */
  async *#replaceBytes(
    windows: ReturnType<Search>,
    shown: TextEnds,
    parts: ResultPart[],
  ): AsyncGenerator<string> {
    let kind: 'page' | 'json' | 'text' | undefined;
    for await (const { window, pieces } of windows) {
      kind ??= detectMarkup(window) ? 'page' : looksLikeJson(window) ? 'json' : 'text';
      for (const piece of pieces) {
        const text =
          !isFound(piece) || kind === 'page'
            ? describePiece(piece)
            : await this.#saveInText(piece, parts, kind === 'json');
        shown.add(text);
        if (kind !== 'page') yield text;
      }
      if (kind === 'page') yield window;
    }
  }

  /** Text that may not be saved leaves its preview. `text/*` allows text of every format. */
  async saveLongText(
    part: TextPart,
    { shown = part.text, isRest = false } = {},
  ): Promise<readonly ResultPart[]> {
    const { text, source } = part;
    const type = detectTextType(text, source);
    return this.#saveLong(part, { bytes: new TextEncoder().encode(text), type, shown, isRest });
  }

  async #saveLong(part: TextPart, { bytes, type, shown, isRest }: LongText): Promise<readonly ResultPart[]> {
    const about = { types: [type.types[0], 'text/*'], size: sizeOf(bytes) } as const;
    const refusal = refuseType('rest of this text', about, this.#limits);
    if (refusal) return [{ ...part, text: previewText(shown) }, refusal];
    const stored = await this.#bytes.saveText(bytes, type, nameFromUri(part.source?.uri), { isRest });
    return [{ ...stored, preview: previewText(shown) }];
  }
}

interface LongText {
  readonly bytes: AssetBytes;
  readonly type: MediaType;
  /** The text of the preview. */
  readonly shown: string;
  readonly isRest?: boolean;
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
