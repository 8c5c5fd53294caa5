import type { LanguageModelV4ProviderTool, LanguageModelV4StreamPart } from '@ai-sdk/provider';
import { fieldsOf, listOf, parseJson } from '../../base/json.ts';
import type { OwnCallEvent, OwnTool } from '../../ports/models.ts';
import type { ModelConfig } from '../config/modelConfig.ts';

type ToolIds = Partial<Record<OwnTool, LanguageModelV4ProviderTool['id']>>;

/** The tools that a provider runs itself. */
const TOOLS: Partial<Record<ModelConfig['provider'], ToolIds>> = {
  anthropic: {
    web_search: 'anthropic.web_search_20250305',
    code_execution: 'anthropic.code_execution_20250825',
  },
  openai: {
    web_search: 'openai.web_search',
    code_execution: 'openai.code_interpreter',
    image_generation: 'openai.image_generation',
  },
  google: { web_search: 'google.google_search', code_execution: 'google.code_execution' },
};

export function hasOwnTool({ provider }: Pick<ModelConfig, 'provider'>, tool: OwnTool): boolean {
  return TOOLS[provider]?.[tool] !== undefined;
}

export function ownTools(
  { provider }: Pick<ModelConfig, 'provider'>,
  wanted: readonly OwnTool[],
): readonly LanguageModelV4ProviderTool[] {
  return wanted.flatMap((tool) => {
    const id = TOOLS[provider]?.[tool];
    return id === undefined ? [] : [{ type: 'provider', id, name: tool, args: ARGS[tool] ?? {} }];
  });
}

/** OpenAI charges for each partial image. */
const ARGS: Partial<Record<OwnTool, LanguageModelV4ProviderTool['args']>> = {
  image_generation: { partialImages: 2 },
};

type StreamPart = LanguageModelV4StreamPart;
type Fields = Readonly<Record<string, unknown>>;

/** The calls that the provider runs itself, as the user sees them. */
export class OwnCalls {
  readonly #inputs = new Map<string, Fields>();
  readonly #searches = new Set<string>();

  see({ toolCallId, input }: Extract<StreamPart, { type: 'tool-call' }>): void {
    this.#inputs.set(toolCallId, fieldsOf(parseJson(input)));
  }

  /** Takes what the SDK drops: the prompt of an image that OpenAI made, and the searches of Gemini. */
  readRaw(chunk: unknown): void {
    const { item, candidates } = fieldsOf(chunk);
    const { type, id, revised_prompt: prompt } = fieldsOf(item);
    if (type === 'image_generation_call' && typeof id === 'string') this.#inputs.set(id, { prompt });
    const { groundingMetadata } = fieldsOf(listOf(candidates)[0]);
    for (const query of listOf(fieldsOf(groundingMetadata)['webSearchQueries'])) {
      if (typeof query === 'string') this.#searches.add(query);
    }
  }

  /** Nothing if both the query and the result are empty. */
  end({
    toolCallId,
    toolName,
    result,
  }: Extract<StreamPart, { type: 'tool-result' }>): readonly OwnCallEvent[] {
    const input = this.#inputs.get(toolCallId) ?? {};
    this.#inputs.delete(toolCallId);
    const query = queryOf(input, fieldsOf(result));
    return ownCall(toolName.replace(/^server:/, '').toLowerCase(), query, describeResult(result));
  }

  /** Gemini reports its searches with the sources, at the end. */
  takeSearches(): readonly OwnCallEvent[] {
    const queries = [...this.#searches];
    this.#searches.clear();
    return ownCall('web_search', queries.join('\n'), '');
  }
}

const MAX_CHARS = 20_000;

function ownCall(tool: string, query: string, result: string): readonly OwnCallEvent[] {
  const all = [query, result].filter((each) => each !== '').join('\n\n');
  if (all.trim() === '') return [];
  const note = `\n[Cut: these are the first ${MAX_CHARS} of ${all.length} characters.]`;
  const text = all.length > MAX_CHARS ? `${all.slice(0, MAX_CHARS).toWellFormed()}${note}` : all;
  const name = tool.replace(/\W+/g, '_').slice(0, 40);
  return [{ kind: 'ownCall', name, query: query.replaceAll('\n', '; '), text }];
}

function queryOf(input: Fields, { action }: Fields): string {
  const { query, queries, url, pattern } = fieldsOf(action);
  const { command, path, file_text: written } = input;
  const asked = [
    input['query'],
    input['prompt'],
    input['code'],
    command,
    path,
    written,
    input['url'],
    url,
    pattern,
  ];
  const searched = listOf(queries).length > 0 ? listOf(queries) : [query];
  return textsOf([...asked, ...searched]).join('\n');
}

/** Found pages as a list, and what code printed. Files are saved, and not part of it. */
function describeResult(result: unknown): string {
  const { sources, stdout, stderr, output, outputs, return_code: code, outcome } = fieldsOf(result);
  const { errorCode, error_code: error = errorCode } = fieldsOf(result);
  const pages = [...listOf(result), ...listOf(sources)]
    .map(fieldsOf)
    .map(({ title, url }) => textsOf([title, url]));
  const list = pages.filter((page) => page.length > 0).map((page, at) => `${at + 1}. ${page.join('\n   ')}`);
  const logs = listOf(outputs).map((each) => fieldsOf(each)['logs']);
  const printed = textsOf([stdout, output, ...logs, stderr]).map((each) => each.trimEnd());
  const isBad = typeof outcome === 'string' && outcome !== 'OUTCOME_OK';
  const problems = [isBad ? outcome : undefined, error, code === 0 ? undefined : exitCode(code)];
  return [list.join('\n'), ...(printed.length > 0 ? ['Output:', ...printed] : []), ...textsOf(problems)]
    .filter((each) => each !== '')
    .join('\n');
}

function exitCode(code: unknown): string | undefined {
  return typeof code === 'number' ? `Exit code ${code}` : undefined;
}

function textsOf(values: readonly unknown[]): readonly string[] {
  return values.filter((value): value is string => typeof value === 'string' && value.trim() !== '');
}
