import { decodeBase64, decodedSizeAtMost, isSurelyLarger } from '../base/base64.ts';
import { messageOf } from '../base/errors.ts';
import { defined, field, mapStrings, parseJson, sameJson } from '../base/json.ts';
import { trimBlankLines } from '../base/lines.ts';
import { describeSize } from '../base/size.ts';
import { detectMarkup } from '../media/sniff.ts';
import type {
  ProblemPart,
  ResultAssets,
  ResultPart,
  Spills,
  TextPart,
  ToolResult,
} from '../ports/results.ts';
import type { ToolName } from '../ports/tools.ts';
import { type Block, type BytesBlock, nameFromUri, problem, readBlocks } from './blocks.ts';
import type { Found, Piece } from './findBase64.ts';
import {
  type ExtractContext,
  extractBytes,
  extractFromValue,
  type FieldRule,
  foundIn,
  isFound,
  restorePlaceholders,
} from './findBytes.ts';
import { limitTotal, MAX_RESULT_CHARS, restText } from './limitTotal.ts';
import { detectTextType, previewText } from './markdown.ts';
import {
  ByteSaver,
  describeInJson,
  describeInText,
  formatJson,
  lengthOf,
  looksLikeJson,
  type Saved,
  type SpilledFiles,
} from './saveBytes.ts';

export const DEFAULT_LIMITS: ResultLimits = { maxInlineChars: 10_000, maxAssetBytes: 50 * 1024 * 1024 };

export interface ResultOptions {
  readonly limits?: ResultLimits | undefined;
  /** The files behind the placeholders in the result. The caller disposes them. */
  readonly spills?: Spills | undefined;
  /** The tool's entry of `results.fields`. */
  readonly fields?: readonly FieldRule[] | undefined;
  readonly transform?: Transform | undefined;
  readonly tool?: ToolName | undefined;
}

/**
 * Converts a tool result into parts, in the order of its blocks: one part per block, and after a text one more for each
 * file that was embedded in it. All files are saved when this resolves. Never rejects: a block that cannot be used
 * becomes a problem part.
 */
export async function processResult(
  result: unknown,
  { assets, files }: { readonly assets: ResultAssets; readonly files: SpilledFiles },
  { limits = DEFAULT_LIMITS, spills, fields = [], transform, tool = { server: '', tool: '' } }: ResultOptions,
): Promise<ToolResult> {
  const transformed = await applyTransform(result, transform, tool);
  const raw = readBlocks(await restorePlaceholders(transformed.result, spills));
  const bytes = new ByteSaver(assets, files, limits.maxAssetBytes);
  const saver = new ResultSaver(bytes, limits, { spills, rules: fields });
  const parts: ResultPart[] =
    transformed.problem === undefined ? [] : [{ kind: 'problem', message: transformed.problem }];
  const extracted = await saver.readStructured(raw.structured);
  // Sequential, so that assets are numbered in the order of the blocks.
  for (const block of raw.blocks) parts.push(...(await saver.saveBlock(block)));
  parts.push(
    ...(await saver.saveStructured(raw.structured, extracted, field(transformed.result, 'content'))),
  );
  const limited = await saver.limitTotal(parts);
  const withAssets = limited.some((part) => part.kind === 'asset');
  return { isError: raw.isError, parts: withAssets ? limited.map(trimBlankEdges) : limited };
}

/** Text beside assets is written as Markdown, which ignores blank lines at the edges. */
function trimBlankEdges(part: ResultPart): ResultPart {
  if (part.kind !== 'text' || part.source) return part;
  return { ...part, text: trimBlankLines(part.text) };
}

/** The user's own function, which gets the result before anything else does. */
export type Transform = (result: unknown, tool: ToolName) => Promise<unknown> | unknown;

const TRANSFORM_TIMEOUT_MS = 10_000;

/** Returns the original result when the transformer fails or returns nothing. */
export async function applyTransform(
  result: unknown,
  transform: Transform | undefined,
  tool: ToolName,
  timeoutMs = TRANSFORM_TIMEOUT_MS,
): Promise<{ readonly result: unknown; readonly problem?: string }> {
  if (!transform) return { result };
  let timer: ReturnType<typeof setTimeout> | undefined;
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`it took longer than ${timeoutMs / 1000} seconds`)), timeoutMs);
  });
  try {
    // `then` also catches what the function throws synchronously.
    const changed = await Promise.race([Promise.resolve().then(() => transform(result, tool)), tooLong]);
    return { result: changed ?? result };
  } catch (error) {
    const problem = `Your transformer failed on ${tool.server}.${tool.tool}: ${messageOf(error)}. The result is shown as the server sent it.`;
    return { result, problem };
  } finally {
    clearTimeout(timer);
  }
}

export interface ResultLimits {
  readonly maxInlineChars: number;
  readonly maxAssetBytes: number;
}

type Extracted = ReadonlyMap<string, readonly Piece[]>;

/** Converts the blocks of one result into parts, and remembers them for the structured content. */
class ResultSaver {
  readonly #limits: ResultLimits;
  readonly #context: ExtractContext;
  readonly #bytes: ByteSaver;
  /** For strings of blocks that contain bytes: the text that replaces them. */
  readonly #replaced = new Map<string, string>();
  readonly #texts: string[] = [];

  constructor(bytes: ByteSaver, limits: ResultLimits, context: ExtractContext) {
    this.#bytes = bytes;
    this.#limits = limits;
    this.#context = context;
  }

  /** Must be called before the blocks are saved, so that bytes in both are saved once. */
  async readStructured(value: unknown): Promise<Extracted> {
    const extracted = await extractFromValue(value, this.#context);
    this.#bytes.announce([...extracted.values()].flat().filter(isFound));
    return extracted;
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
        else shown.push(describeInJson(this.#bytes.known(piece) ?? (await this.#saveOwn(piece, own)), piece));
      }
      replaced.set(text, shown.join(''));
    }
    const filled = mapStrings(value, (text) => replaced.get(text) ?? text);
    const blocks = [mapStrings(content, (text) => this.#replaced.get(text) ?? text), ...this.#texts];
    if (own.length === 0 && isRepeated(filled, blocks)) return [];
    const json = JSON.stringify(filled, null, 2);
    if (json.length <= this.#limits.maxInlineChars) return [{ kind: 'data', json }, ...own];
    return [...own, await this.#saveLongText({ kind: 'text', text: json })];
  }

  /** Saves the parts that do not fit into the chat in a file. */
  async limitTotal(parts: readonly ResultPart[]): Promise<readonly ResultPart[]> {
    const limited = limitTotal(parts);
    if (!limited) return parts;
    const files: ResultPart[] = [];
    for (const rest of limited.rest) {
      const audience = defined({ audience: rest[0]?.audience });
      const message = `The result is longer than ${MAX_RESULT_CHARS} characters. This file has the other ${rest.length} of its ${parts.length} parts, in order:`;
      files.push({ ...problem(message), ...audience });
      files.push({ ...(await this.#saveLongText(restText(rest))), ...audience });
    }
    return [...limited.lead, ...files, ...limited.shown];
  }

  async #saveOwn(found: Found, own: ResultPart[]): Promise<Saved> {
    const { part, saved } = await this.#bytes.save(found, { what: 'data', block: 'file' });
    own.push(part);
    return saved;
  }

  async #saveBytesBlock({ block, data, declared, uri, name }: BytesBlock): Promise<ResultPart> {
    const what = block === 'file' ? `file ${nameFromUri(uri) ?? name ?? ''}`.trim() : block;
    const found = this.#readData(data, what);
    if (found.kind === 'problem') return found;
    const { part, saved } = await this.#bytes.save(found, { what, declared, uri, name, block });
    if (data !== '') this.#replaced.set(data, describeInJson(saved));
    return part;
  }

  #readData(data: string, what: string): Found | ProblemPart {
    const spill = this.#context.spills?.find(data);
    if (spill) return foundIn(spill);
    if (isSurelyLarger(data, this.#limits.maxAssetBytes))
      return { kind: 'refused', size: decodedSizeAtMost(data) };
    const decoded = decodeBase64(data);
    if (!decoded.ok) return problem(`The ${what} could not be saved: ${decoded.reason}.`);
    return { kind: 'bytes', bytes: decoded.bytes, ...defined({ declared: decoded.mimeType }) };
  }

  async #saveTextBlock(block: TextPart): Promise<readonly ResultPart[]> {
    const { text, source } = block;
    const pieces = await extractBytes(text, this.#context);
    const founds = pieces.filter(isFound);
    const [only] = founds;
    if (!only) return [await this.#keepText({ ...block, text: pieces.join('') })];
    if (founds.length === 1 && pieces.every((piece) => isFound(piece) || piece.trim() === '')) {
      const declared = (only.kind === 'bytes' && only.declared) || source?.mimeType;
      const origin = { what: 'data', block: 'file', declared, uri: source?.uri } as const;
      const { part, saved } = await this.#bytes.save(only, origin);
      this.#replaced.set(text, describeInJson(saved));
      return [part];
    }
    // HTML or SVG would break without its images, so it is saved as a whole.
    if (detectMarkup(text) && founds.every(isInMemory)) {
      return [await this.#saveLongText(block, pieces.map(describePiece).join(''))];
    }
    return this.#saveMixedText(block, pieces);
  }

  async #saveMixedText(block: TextPart, pieces: readonly Piece[]): Promise<readonly ResultPart[]> {
    const isJson = looksLikeJson(block.text);
    const parts: ResultPart[] = [];
    const shown: string[] = [];
    for (const piece of pieces) {
      if (!isFound(piece)) shown.push(piece);
      else {
        const { part, saved } = await this.#bytes.save(piece, { what: 'data', block: 'file' });
        parts.push(part);
        shown.push(isJson ? describeInJson(saved, piece) : describeInText(saved, piece));
      }
    }
    const text = isJson ? formatJson(shown.join('')) : shown.join('');
    const kept = await this.#keepText({ ...block, text });
    // A text that became a file was numbered after the assets in it.
    return kept.kind === 'asset' ? [...parts, kept] : [kept, ...parts];
  }

  async #keepText(part: TextPart): Promise<ResultPart> {
    this.#texts.push(part.text);
    return part.text.length > this.#limits.maxInlineChars ? this.#saveLongText(part) : part;
  }

  async #saveLongText({ text, source }: TextPart, shown = text): Promise<ResultPart> {
    const { extension } = detectTextType(text, source?.mimeType);
    const bytes = new TextEncoder().encode(text);
    const part = await this.#bytes.store({ kind: 'file', extension, bytes }, nameFromUri(source?.uri));
    return { ...part, preview: previewText(shown) };
  }
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
