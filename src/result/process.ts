import { TimeSlice } from '../base/async.ts';
import { messageOf } from '../base/errors.ts';
import { defined, field } from '../base/json.ts';
import { trimBlankLines } from '../base/lines.ts';
import { ASSET_FOLDER, assetName } from '../base/names.ts';
import { SETTINGS } from '../base/settings.ts';
import type { AssetKind, NewAsset, ResultAssets, ResultPart, Spills, ToolResult } from '../ports/results.ts';
import type { PromptResult } from '../ports/servers.ts';
import type { ToolName } from '../ports/tools.ts';
import { type Block, failureOf, problem, readBlocks } from './blocks.ts';
import type { Piece } from './findBase64.ts';
import { extractBytes, extractFromValue, type FieldRule, isFound, restorePlaceholders } from './findBytes.ts';
import { ByteSaver, type SpilledFiles } from './saveBytes.ts';
import { type Extract, findLong, type ResultLimits, ResultSaver, type SaveContext } from './saveResult.ts';
import { applyTransform, type Normalize, type Transform, type Transformed } from './transform.ts';

export type { Transform } from './transform.ts';

export const DEFAULT_LIMITS: ResultLimits = {
  maxInlineChars: SETTINGS['results.maxInlineChars'].default,
  maxAssetBytes: SETTINGS['results.maxAssetBytes'].default,
};

export interface ResultOptions {
  readonly limits?: ResultLimits | undefined;
  /** The files behind the placeholders in the result. The caller disposes them. */
  readonly spills?: Spills | undefined;
  /** The tool's entry of `results.fields`. */
  readonly fields?: readonly FieldRule[] | undefined;
  readonly transform?: Transform | undefined;
  readonly tool?: ToolName | undefined;
}

export interface ResultPorts {
  readonly assets: ResultAssets;
  readonly files: SpilledFiles;
  readonly normalize: Normalize;
}

/**
 * Converts a tool result into parts, in the order of its blocks: one part per block, and after a text one more for each
 * file that was embedded in it. All files are saved when this resolves. Never rejects: a block that cannot be used
 * becomes a problem part.
 */
export async function processResult(
  result: unknown,
  { assets, files, normalize }: ResultPorts,
  options: ResultOptions,
): Promise<ToolResult> {
  const prepared = await prepareResult(result, { files, normalize }, options);
  const [saved] = await saveTogether(assets, [prepared]);
  return saved ?? { isError: true, parts: [] };
}

/** Reads a result without saving anything. Results that share their numbers are prepared first, then saved in order. */
export async function prepareResult(
  result: unknown,
  { files, normalize }: Omit<ResultPorts, 'assets'>,
  { limits = DEFAULT_LIMITS, spills, fields = [], transform, tool = { server: '', tool: '' } }: ResultOptions,
): Promise<PreparedResult> {
  const transformed: Transformed = transform
    ? await applyTransform(result, transform, { tool, spills, read: files.read, normalize })
    : { result, changed: false };
  const reading = new TimeSlice();
  const raw = readBlocks(await restorePlaceholders(transformed.result, spills));
  if (reading.isOver()) await reading.pause();
  const rules = { spills, rules: fields };
  const context = { ...rules, extract: remember((text) => extractBytes(text, rules)) };
  const extracted = await extractFromValue(raw.structured, rules);
  const sent = transformed.changed
    ? await findLong(readBlocks(await restorePlaceholders(result, spills)), limits, context)
    : [];
  const founds = [...extracted.values()].flat().filter(isFound);
  const save = async (assets: ResultAssets) => {
    const bytes = new ByteSaver(assets, files, limits);
    const saver = new ResultSaver(bytes, limits, context);
    const parts: ResultPart[] = transformed.problem === undefined ? [] : [problem(transformed.problem)];
    // Before the blocks, so that bytes in both are saved once.
    bytes.announce([...founds, ...sent.map(({ found }) => found)]);
    // Sequential, so that assets are numbered in the order of the blocks.
    const slice = new TimeSlice();
    for (const block of raw.blocks) {
      if (slice.isOver()) await slice.pause();
      parts.push(...(await saver.saveBlock(block)));
    }
    if (slice.isOver()) await slice.pause();
    parts.push(
      ...(await saver.saveStructured(raw.structured, extracted, field(transformed.result, 'content'))),
    );
    parts.push(...(await saver.saveLost(sent, tool)));
    for (const each of saver.fieldProblems())
      parts.push(problem(`Check filechat.results.fields for ${tool.server}.${tool.tool}. ${each}`));
    const limited = await saver.limitTotal(parts);
    const withAssets = limited.some((part) => part.kind === 'asset');
    return {
      isError: raw.isError,
      parts: withAssets ? limited.map(trimBlankEdges) : limited,
      ...(limited !== parts && defined({ failure: failureOf({ parts }) })),
    };
  };
  const maxAssets = (await countAtMost(raw.blocks, context)) + founds.length + sent.length;
  return { maxAssets, save };
}

type Message = PromptResult['messages'][number];

/** All messages of a prompt together are as long as one result at most. */
export async function limitMessages(
  messages: readonly Message[],
  { assets, files }: Pick<ResultPorts, 'assets' | 'files'>,
  limits: ResultLimits = DEFAULT_LIMITS,
): Promise<readonly Message[]> {
  const parts = messages.flatMap((message) => message.parts);
  const headings = new Map(
    messages.flatMap(({ role, parts: [first] }) => (first ? [[first, `${role}:`]] : [])),
  );
  const context = { rules: [], extract: async (text: string) => [text] };
  const saver = new ResultSaver(new ByteSaver(assets, files, limits), limits, context);
  const limited = await saver.limitTotal(parts, headings);
  const over = limited.findIndex((part, at) => part !== parts[at]);
  if (over < 0) return messages;
  const kept: Message[] = [];
  let left = over;
  for (const { role, parts: own } of messages) {
    const fitting = own.slice(0, left);
    left -= fitting.length;
    if (fitting.length === own.length) kept.push({ role, parts: fitting });
    else return [...kept, { role, parts: [...fitting, ...limited.slice(over)] }];
  }
  return kept;
}

/** One file for each block and for the structured content, and one for each place with bytes in them. */
async function countAtMost(blocks: readonly Block[], { extract }: SaveContext): Promise<number> {
  let count = blocks.length + 1;
  for (const block of blocks) {
    if (block.kind === 'text') count += (await extract(block.text)).filter(isFound).length;
    if (block.kind === 'data') count += (await extract(block.json)).filter(isFound).length;
  }
  return count;
}

function remember(extract: Extract): Extract {
  const known = new Map<string, Promise<readonly Piece[]>>();
  return (text) => {
    const pieces = known.get(text) ?? extract(text);
    known.set(text, pieces);
    return pieces;
  };
}

/** Text beside assets is written as Markdown, which ignores blank lines at the edges. */
function trimBlankEdges(part: ResultPart): ResultPart {
  if (part.kind !== 'text' || part.source) return part;
  return { ...part, text: trimBlankLines(part.text) };
}

/** A result of which everything is known but the names of its files. */
interface PreparedResult {
  /** At least as many as `save` saves. */
  readonly maxAssets: number;
  save(assets: ResultAssets): Promise<ToolResult>;
}

/** Numbers of one digit are not padded. */
const FIRST_PADDED = 10;

/**
 * Saves results that share their numbers, in order. Pads the numbers in names to the same width, so that names sort in
 * the order of the blocks. Names are part of texts, so they must be known before anything is saved: many results are
 * first saved to a counter. Never rejects.
 */
export async function saveTogether(
  assets: ResultAssets,
  results: readonly PreparedResult[],
): Promise<readonly ToolResult[]> {
  const maxAssets = results.reduce((sum, each) => sum + each.maxAssets, 0);
  const saving = maxAssets < FIRST_PADDED ? assets : await padNumbers(assets, results);
  const saved: ToolResult[] = [];
  for (const result of results) saved.push(await result.save(saving));
  try {
    await assets.settle?.();
    return saved;
  } catch (error) {
    const warning = problem(`The files may be lost if the computer fails now: ${messageOf(error)}`);
    return saved.map((each, at) => (at === 0 ? { ...each, parts: [...each.parts, warning] } : each));
  }
}

async function padNumbers(assets: ResultAssets, results: readonly PreparedResult[]): Promise<ResultAssets> {
  const counter = new AssetCounter();
  for (const result of results) await result.save(counter);
  return {
    spillFolder: (failure) => assets.spillFolder(failure),
    save: (asset) => assets.save({ ...asset, last: counter.countOf(asset.kind), inBatch: true }),
  };
}

/** Counts the assets of each kind and saves nothing. */
class AssetCounter implements ResultAssets {
  readonly #counts = new Map<AssetKind, number>();

  countOf(kind: AssetKind): number {
    return this.#counts.get(kind) ?? 0;
  }

  async spillFolder(): Promise<string> {
    throw new Error('A counter has no folder.');
  }

  async save({ kind, extension }: NewAsset): Promise<{ readonly number: number; readonly path: string }> {
    const number = this.countOf(kind) + 1;
    this.#counts.set(kind, number);
    // As long as a real name, because the length of a text decides whether it becomes a file.
    const name = assetName({ kind, extension, number, time: new Date(0), resultId: '0'.repeat(10) });
    return { number, path: `${ASSET_FOLDER}/${name}` };
  }
}
