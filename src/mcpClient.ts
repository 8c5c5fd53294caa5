import { open } from 'node:fs/promises';
import { fileHolds } from './assets/sameBytes.ts';
import { trimBlankLines } from './chat/lines.ts';
import type { Connections } from './mcp/connections.ts';
import { SpillTable } from './mcp/spill/spillTable.ts';
import type {
  ResultAssets,
  ResultPart,
  Spills,
  ToolCall,
  ToolCallOptions,
  ToolHost,
  ToolList,
  ToolName,
  ToolResult,
} from './ports.ts';
import { readBlocks } from './result/blocks.ts';
import type { SpilledFiles } from './result/byteSaver.ts';
import type { FieldRule } from './result/fields.ts';
import { type ResultLimits, ResultSaver } from './result/resultSaver.ts';
import { restoreStrays } from './result/strays.ts';
import { applyTransform, type Transform } from './result/transformer.ts';

export type { ResultLimits } from './result/resultSaver.ts';

export const DEFAULT_LIMITS: ResultLimits = { maxInlineChars: 10_000, maxAssetBytes: 50 * 1024 * 1024 };

export interface ResultOptions {
  readonly limits?: ResultLimits | undefined;
  /** What the placeholders in the result stand for. The caller disposes it. */
  readonly spills?: Spills | undefined;
  /** The tool's entry of `results.fields`. */
  readonly fields?: readonly FieldRule[] | undefined;
  readonly transform?: Transform | undefined;
  /** For the transformer. */
  readonly tool?: ToolName | undefined;
}

/**
 * Turns what a tool returned into parts, in the order of its blocks: one for each, and after a text one more
 * for each thing that hid in it. Bytes are files when this resolves. It never rejects: what cannot be used is
 * a problem in the place of its block.
 */
export async function processMixedToolResult(
  result: unknown,
  assets: ResultAssets,
  options: ResultOptions = {},
): Promise<ToolResult> {
  const {
    limits = DEFAULT_LIMITS,
    spills,
    fields = [],
    transform,
    tool = { server: '', tool: '' },
  } = options;
  const transformed = await applyTransform(result, transform, tool);
  const raw = readBlocks(await restoreStrays(transformed.result, spills));
  const saver = new ResultSaver({ assets, limits, files: FILES, context: { spills, rules: fields } });
  const parts: ResultPart[] =
    transformed.problem === undefined ? [] : [{ kind: 'problem', message: transformed.problem }];
  const structured = await saver.expect(raw.structured);
  // One after the other, so that the numbers follow the blocks.
  for (const block of raw.blocks) parts.push(...(await saver.saveBlock(block)));
  parts.push(...(await saver.saveStructured(structured, contentOf(transformed.result))));
  const withAssets = parts.some((part) => part.kind === 'asset');
  return { isError: raw.isError, parts: withAssets ? parts.map(trimBlankEdges) : parts };
}

export interface ToolSettings {
  readonly fields?: ((tool: ToolName) => readonly FieldRule[]) | undefined;
  readonly transform?: Transform | undefined;
}

/** The tools of all servers behind the port that the turn loop knows. Nothing is opened before it is used. */
export class McpClient implements ToolHost {
  readonly #open: () => Promise<Connections>;
  readonly #limits: () => ResultLimits;
  readonly #settings: () => Promise<ToolSettings> | ToolSettings;
  #opened: Promise<Connections> | undefined;

  constructor(
    open: () => Promise<Connections>,
    limits: () => ResultLimits = () => DEFAULT_LIMITS,
    settings: () => Promise<ToolSettings> | ToolSettings = () => ({}),
  ) {
    this.#open = open;
    this.#limits = limits;
    this.#settings = settings;
  }

  async listTools(server?: string, signal?: AbortSignal): Promise<ToolList> {
    return (await this.#connections()).listTools(server, signal);
  }

  async callTool(call: ToolCall, { assets, signal, onProgress }: ToolCallOptions): Promise<ToolResult> {
    const limits = this.#limits();
    const { fields, transform } = await this.#settings();
    const connections = await this.#connections();
    const spills = new SpillTable({ folder: () => assets.spillFolder(), maxBytes: limits.maxAssetBytes });
    try {
      const result = await connections.callTool(call, { signal, onProgress, spills });
      const tool = { server: call.server, tool: call.tool };
      return await processMixedToolResult(result, assets, {
        limits,
        spills,
        fields: fields?.(tool),
        transform,
        tool,
      });
    } finally {
      await spills.dispose();
    }
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

/** What pictures end with has room in this. */
const TAIL_BYTES = 4096;

/** Files of ours that are too long for memory. */
const FILES: SpilledFiles = {
  holds: fileHolds,
  async tail({ path, size }) {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(
        Buffer.alloc(TAIL_BYTES),
        0,
        TAIL_BYTES,
        Math.max(0, size - TAIL_BYTES),
      );
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  },
};

/** Beside assets a text stands as Markdown, where blank lines at its edges mean nothing. */
function trimBlankEdges(part: ResultPart): ResultPart {
  if (part.kind !== 'text' || part.source) return part;
  return { ...part, text: trimBlankLines(part.text) };
}

function contentOf(result: unknown): unknown {
  return typeof result === 'object' && result !== null && 'content' in result ? result.content : undefined;
}
