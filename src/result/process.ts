import { ASSET_FOLDER, assetName } from '../base/assetNames.ts';
import { TimeSlice } from '../base/async.ts';
import { BUDGET } from '../base/budget.ts';
import { groupBy } from '../base/collections.ts';
import { messageOf } from '../base/errors.ts';
import { defined, field } from '../base/json.ts';
import { trimBlankLines } from '../base/lines.ts';
import { SETTINGS } from '../base/settings.ts';
import { escapeMarkers } from '../chat/format/escapeMarkers.ts';
import type {
  AssetKind,
  AssetPart,
  NewAsset,
  ResultAssets,
  ResultPart,
  Spills,
  TextPart,
  ToolResult,
} from '../ports/results.ts';
import type { PromptResult } from '../ports/servers.ts';
import type { ToolName } from '../ports/tools.ts';
import { type Block, failureOf, problem, readBlocks } from './blocks.ts';
import {
  extractBytes,
  extractFromValue,
  type FieldRule,
  isFound,
  remember,
  rememberSearch,
  spilledText,
} from './findBytes.ts';
import { renderPart, renderToolResult } from './markdown.ts';
import { restorePlaceholders } from './placeholders.ts';
import { isRepeated } from './repeated.ts';
import { ByteSaver, type SpilledFiles } from './saveBytes.ts';
import { findFiles, type ResultLimits, ResultSaver, type SaveContext } from './saveResult.ts';
import { onlyWindow } from './textWindows.ts';
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
  const extract = remember((text) => extractBytes(text, rules));
  const context = { ...rules, extract, search: rememberSearch() };
  const texts = raw.blocks.flatMap((block) => (block.kind === 'text' ? [block.text] : []));
  const inFiles = texts.filter((text) => field(spills?.find(text), 'textHash') !== undefined);
  // A text in a file is not read into memory only because it is repeated.
  const isInFile = fields.length === 0 && isRepeated(raw.structured, inFiles);
  const extracted = await extractFromValue(isInFile ? undefined : raw.structured, rules);
  const mayOmit = !transformed.changed || field(transformed.result, OMITS_FILES) === true;
  const sent = mayOmit
    ? []
    : await findFiles(readBlocks(await restorePlaceholders(result, spills)), limits, context);
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
    const limited = await limitParts(parts, saver);
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

/** With this field, a transformer says that it omits files on purpose. */
const OMITS_FILES = 'omitsFiles';

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
  const context = { rules: [], extract: async (text: string) => [text], search: rememberSearch() };
  const saver = new ResultSaver(new ByteSaver(assets, files, limits), limits, context);
  const limited = await limitParts(parts, saver, headings);
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

/** Saves the parts that do not fit into the chat in a file. */
async function limitParts(
  parts: readonly ResultPart[],
  saver: ResultSaver,
  headings?: Headings,
): Promise<readonly ResultPart[]> {
  const limited = limitTotal(parts);
  if (!limited) return parts;
  const files: ResultPart[] = [];
  for (const rest of limited.rest) {
    const audience = defined({ audience: rest[0]?.audience });
    const message = `The result is longer than ${MAX_RESULT_CHARS} characters. This file has the other ${rest.length} of its ${parts.length} parts, in order:`;
    files.push({ ...problem(message), ...audience });
    const saved = await saver.saveLongText(restText(rest, headings), { isRest: true });
    files.push(...saved.map((part) => ({ ...part, ...audience })));
  }
  return [...limited.lead, ...files, ...limited.shown];
}

/** At most this much of one result is written into a chat, or sent to a model. */
const MAX_RESULT_CHARS = BUDGET.resultChars;

/** For the error line, and for the message of the output schema, which is added later. */
const SPARE_CHARS = 1000;
const MAX_LEAD_CHARS = 150_000;
/** What remains is for the links and previews of the files with the rest. */
const MAX_SHORT_CHARS = 35_000;

interface LimitedParts {
  readonly lead: readonly ResultPart[];
  /** Everything from the first part that does not fit, as one list for each audience. */
  readonly rest: readonly (readonly ResultPart[])[];
  /** The files, links and problems of the rest that are shown nevertheless, because they are short. */
  readonly shown: readonly ResultPart[];
}

/** Undefined if all parts fit into the chat. Counts what is written, with escapes and fences. */
export function limitTotal(parts: readonly ResultPart[]): LimitedParts | undefined {
  const costs = new Map(parts.map((part) => [part, writtenChars(part)]));
  const fitting = (from: readonly ResultPart[], chars: number) => {
    let left = chars;
    const over = from.findIndex((part) => {
      left -= costs.get(part) ?? 0;
      return left < 0;
    });
    return over < 0 ? from : from.slice(0, over);
  };
  const maxChars = MAX_RESULT_CHARS - SPARE_CHARS;
  if (fitting(parts, maxChars).length === parts.length) return undefined;
  // The sum of the costs is too high for many short parts.
  if (escapeMarkers(renderToolResult({ isError: false, parts })).length <= maxChars) return undefined;
  const lead = fitting(parts, MAX_LEAD_CHARS);
  const rest = parts.slice(lead.length);
  const short = rest.filter(({ kind }) => kind !== 'text' && kind !== 'data');
  const shown = fitting(short, MAX_SHORT_CHARS);
  const isNew = (part: ResultPart) => !shown.includes(part);
  const audiences = [...groupBy(rest, ({ audience }) => audience).values()];
  return { lead, rest: audiences.filter((each) => each.some(isNew)), shown };
}

/** The blank lines and the comment that may stand before a part. */
const DIVIDER_CHARS = 32;

/** What the part needs at most in any turn, as code or as plain text. */
function writtenChars(part: ResultPart): number {
  // A line of plain text may get two spaces.
  const spaces = part.kind === 'text' ? 2 * part.text.split('\n').length : 0;
  return escapeMarkers(renderPart(part)).length + spaces + DIVIDER_CHARS;
}

/** Texts before some of the parts, which are only in the file. */
type Headings = ReadonlyMap<ResultPart, string>;

/** The text of a file in the asset folder with parts of one audience that are not in the chat. */
function restText(parts: readonly ResultPart[], headings: Headings = new Map()): TextPart {
  const [only] = parts;
  if (parts.length === 1 && only?.kind === 'text') return only;
  if (parts.length === 1 && only?.kind === 'data') return { kind: 'text', text: only.json };
  const shown = parts.flatMap((part): readonly ResultPart[] => {
    const { audience: _, ...own } = part;
    const heading = headings.get(part);
    const written = own.kind === 'asset' ? linkedFromFolder(own) : own;
    return heading === undefined ? [written] : [{ kind: 'text', text: heading }, written];
  });
  const text = renderToolResult({ isError: false, parts: shown });
  return { kind: 'text', text, source: { uri: 'rest-of-result.md', mimeType: 'text/markdown' } };
}

function linkedFromFolder({ asset, ...part }: AssetPart): AssetPart {
  return { ...part, asset: { ...asset, path: `./${asset.path.slice(asset.path.lastIndexOf('/') + 1)}` } };
}

/** One file for each block and for the structured content, and one for each place with bytes in them. */
async function countAtMost(
  blocks: readonly Block[],
  { extract, search, spills }: Omit<SaveContext, 'rules'>,
): Promise<number> {
  let count = blocks.length + 1;
  for (const block of blocks) {
    if (block.kind === 'text') count += await countFiles(block.text, { extract, search, spills });
    if (block.kind === 'data') count += (await extract(block.json)).filter(isFound).length;
  }
  return count;
}

async function countFiles(
  text: string,
  { extract, search, spills }: Omit<SaveContext, 'rules'>,
): Promise<number> {
  const spilled = await spilledText(text, spills);
  const only = spilled ? await onlyWindow(spilled()) : text;
  if (!spilled || only !== undefined) return (await extract(only ?? text)).filter(isFound).length;
  let count = 0;
  for await (const { pieces } of search(text, spilled)) count += pieces.filter(isFound).length;
  return count;
}

/** Text beside assets is written as Markdown, which ignores blank lines at the edges. */
function trimBlankEdges(part: ResultPart): ResultPart {
  if (part.kind !== 'text' || part.source) return part;
  return { ...part, text: trimBlankLines(part.text) };
}

/** A result that is complete except for the names of its files. */
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
