import { messageOf } from '../base/errors.ts';
import { field } from '../base/json.ts';
import { trimBlankLines } from '../base/lines.ts';
import type { ResultAssets, ResultPart, Spills, ToolResult } from '../ports/results.ts';
import type { ToolName } from '../ports/tools.ts';
import { readBlocks } from './blocks.ts';
import type { FieldRule } from './fields.ts';
import { restorePlaceholders } from './findBytes.ts';
import type { SpilledFiles } from './saveBytes.ts';
import { type ResultLimits, ResultSaver } from './saveResult.ts';

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

export interface ProcessDeps {
  readonly assets: ResultAssets;
  readonly files: SpilledFiles;
}

/**
 * Converts a tool result into parts, in the order of its blocks: one part per block, and after a text one more for each
 * file that was embedded in it. All files are saved when this resolves. Never rejects: a block that cannot be used
 * becomes a problem part.
 */
export async function processResult(
  result: unknown,
  { assets, files }: ProcessDeps,
  { limits = DEFAULT_LIMITS, spills, fields = [], transform, tool = { server: '', tool: '' } }: ResultOptions,
): Promise<ToolResult> {
  const transformed = await applyTransform(result, transform, tool);
  const raw = readBlocks(await restorePlaceholders(transformed.result, spills));
  const saver = new ResultSaver({ assets, limits, files, context: { spills, rules: fields } });
  const parts: ResultPart[] =
    transformed.problem === undefined ? [] : [{ kind: 'problem', message: transformed.problem }];
  const structured = await saver.readStructured(raw.structured);
  // Sequential, so that assets are numbered in the order of the blocks.
  for (const block of raw.blocks) parts.push(...(await saver.saveBlock(block)));
  parts.push(...(await saver.saveStructured(structured, field(transformed.result, 'content'))));
  const withAssets = parts.some((part) => part.kind === 'asset');
  return { isError: raw.isError, parts: withAssets ? parts.map(trimBlankEdges) : parts };
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
