import { trimBlankLines } from './chat/lines.ts';
import type { Connections } from './mcp/connections.ts';
import type {
  AssetPart,
  NewAsset,
  ResultAssets,
  ResultPart,
  TextPart,
  ToolCall,
  ToolCallOptions,
  ToolHost,
  ToolList,
  ToolResult,
} from './ports.ts';
import { decodeBase64, decodedSizeAtMost } from './result/base64.ts';
import { type Block, type BytesBlock, readBlocks } from './result/blocks.ts';
import { judgeTextType, previewText } from './result/longText.ts';
import { judgeMediaType } from './result/mediaType.ts';
import { nameFromUri } from './result/names.ts';
import { describeStructured } from './result/structured.ts';

export interface ResultLimits {
  readonly maxInlineChars: number;
  readonly maxAssetBytes: number;
}

export const DEFAULT_LIMITS: ResultLimits = { maxInlineChars: 10_000, maxAssetBytes: 50 * 1024 * 1024 };

/**
 * Turns what a tool returned into parts, one for each block and in its order. Bytes are files when this
 * resolves. It never rejects: what cannot be used is a problem in the place of its block.
 */
export async function processMixedToolResult(
  result: unknown,
  assets: ResultAssets,
  limits: ResultLimits = DEFAULT_LIMITS,
): Promise<ToolResult> {
  const raw = readBlocks(result);
  const parts: ResultPart[] = [];
  // One after the other, so that the numbers follow the blocks.
  for (const block of raw.blocks) parts.push(await saveBlock(block, assets, limits));
  const json = describeStructured(raw.structured, contentOf(result), raw.blocks);
  if (json !== undefined) parts.push(await keepData(json, assets, limits));
  return { isError: raw.isError, parts: parts.some(isAsset) ? parts.map(trimBlankEdges) : parts };
}

/** The tools of all servers behind the port that the turn loop knows. Nothing is opened before it is used. */
export class McpClient implements ToolHost {
  readonly #open: () => Promise<Connections>;
  readonly #limits: () => ResultLimits;
  #opened: Promise<Connections> | undefined;

  constructor(open: () => Promise<Connections>, limits: () => ResultLimits = () => DEFAULT_LIMITS) {
    this.#open = open;
    this.#limits = limits;
  }

  async listTools(server?: string, signal?: AbortSignal): Promise<ToolList> {
    return (await this.#connections()).listTools(server, signal);
  }

  async callTool(call: ToolCall, { assets, signal, onProgress }: ToolCallOptions): Promise<ToolResult> {
    const result = await (await this.#connections()).callTool(call, { signal, onProgress });
    return processMixedToolResult(result, assets, this.#limits());
  }

  async dispose(): Promise<void> {
    await (await this.#opened)?.dispose();
  }

  #connections(): Promise<Connections> {
    this.#opened ??= this.#open().catch((error: unknown) => {
      this.#opened = undefined;
      throw error;
    });
    return this.#opened;
  }
}

async function saveBlock(block: Block, assets: ResultAssets, limits: ResultLimits): Promise<ResultPart> {
  if (block.kind === 'bytes') return saveBytes(block, assets, limits);
  if (block.kind === 'text' && block.text.length > limits.maxInlineChars) return saveLongText(block, assets);
  return block;
}

async function saveBytes(block: BytesBlock, assets: ResultAssets, limits: ResultLimits): Promise<ResultPart> {
  const what = block.block === 'file' ? `file ${nameFromUri(block.uri) ?? ''}`.trim() : block.block;
  // Judged before decoding, so that a refused block costs no memory.
  const sizeAtMost = decodedSizeAtMost(block.data);
  if (sizeAtMost > limits.maxAssetBytes * 1.05 + MAX_OVERHEAD_BYTES)
    return tooLarge(what, sizeAtMost, limits);
  const decoded = decodeBase64(block.data);
  if (!decoded.ok) return problem(`The ${what} could not be saved: ${decoded.reason}.`);
  const { bytes } = decoded;
  if (bytes.length > limits.maxAssetBytes) return tooLarge(what, bytes.length, limits);
  if (bytes.length === 0) return problem(`The ${what} could not be saved: it is empty.`);
  const declared = block.declared ?? decoded.mimeType;
  const type = await judgeMediaType({ bytes, declared, uri: block.uri, block: block.block });
  return saveAsset({ kind: type.kind, extension: type.extension, bytes }, assets, nameFromUri(block.uri));
}

/** Line breaks (some 5 %), padding and the head of a data: URL make the estimate larger than the bytes. */
const MAX_OVERHEAD_BYTES = 1024;

async function saveLongText(part: TextPart, assets: ResultAssets): Promise<ResultPart> {
  const { extension } = judgeTextType(part.text, part.source?.mimeType);
  const bytes = new TextEncoder().encode(part.text);
  const saved = await saveAsset({ kind: 'file', extension, bytes }, assets, nameFromUri(part.source?.uri));
  return saved.kind === 'asset' ? { ...saved, preview: previewText(part.text) } : saved;
}

async function keepData(json: string, assets: ResultAssets, limits: ResultLimits): Promise<ResultPart> {
  if (json.length <= limits.maxInlineChars) return { kind: 'data', json };
  return saveLongText({ kind: 'text', text: json }, assets);
}

async function saveAsset(asset: NewAsset, assets: ResultAssets, name?: string): Promise<ResultPart> {
  try {
    const { number, path } = await assets.save(asset);
    // Only files carry a name: the contract's links to images and sounds are numbered alone.
    const named = asset.kind === 'file' && name !== undefined ? { name } : {};
    return { kind: 'asset', asset: { kind: asset.kind, number, path, ...named } };
  } catch (error) {
    return problem(error instanceof Error ? error.message : String(error));
  }
}

function tooLarge(what: string, bytes: number, limits: ResultLimits): ResultPart {
  const size = megabytes(bytes);
  return problem(
    `The ${what} was not saved: it has ${size}, and filechat.results.maxAssetBytes allows ${megabytes(limits.maxAssetBytes)}.`,
  );
}

function megabytes(bytes: number): string {
  return `${(bytes / 1024 / 1024).toFixed(1)} MiB`;
}

function problem(message: string): ResultPart {
  return { kind: 'problem', message };
}

function isAsset(part: ResultPart): part is AssetPart {
  return part.kind === 'asset';
}

/** Beside assets a text stands as Markdown, where blank lines at its edges mean nothing. */
function trimBlankEdges(part: ResultPart): ResultPart {
  if (part.kind !== 'text' || part.source) return part;
  return { ...part, text: trimBlankLines(part.text) };
}

function contentOf(result: unknown): unknown {
  return typeof result === 'object' && result !== null && 'content' in result ? result.content : undefined;
}
