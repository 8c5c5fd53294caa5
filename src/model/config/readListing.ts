import { defined, field, isObject } from '../../base/json.ts';
import type { ModelPrice } from '../../ports/models.ts';
import type { Ability } from './modelConfig.ts';

/** A chat model as its provider describes it. */
export interface ListedModel {
  readonly model: string;
  readonly title?: string;
  /** Milliseconds since 1970. */
  readonly created?: number;
  readonly contextTokens?: number;
  readonly price?: ModelPrice;
  readonly abilities: readonly Ability[];
}

const MAX_ID_CHARS = 200;

/** The chat models of a response to `/models`, newest first. Undefined if it is not a list of models. */
export function readListing(response: unknown): readonly ListedModel[] | undefined {
  const list = Array.isArray(response) ? response : (field(response, 'data') ?? field(response, 'models'));
  if (!Array.isArray(list)) return undefined;
  return newestFirst(list.flatMap((each) => readListed(each) ?? []));
}

/** Each model once, newest first. Where no dates are known, those with the highest version are first. */
export function newestFirst(models: readonly ListedModel[]): readonly ListedModel[] {
  const once = [...new Map(models.map((each) => [each.model, each])).values()];
  return once.sort(
    (a, b) =>
      (b.created ?? 0) - (a.created ?? 0) || versionOf(b) - versionOf(a) || (a.model < b.model ? -1 : 1),
  );
}

/** The newest model of the first pattern that any matches, or else the newest model. */
export function recommendModel(
  models: readonly ListedModel[],
  patterns: readonly RegExp[] = [],
): ListedModel | undefined {
  for (const pattern of patterns) {
    const found = models.find(({ model }) => pattern.test(model));
    if (found) return found;
  }
  return models[0];
}

/** Some providers write 5.5 as `5-5`. Numbers with a letter are sizes, and long ones are dates. */
function versionOf({ model }: ListedModel): number {
  const [, major = 0, minor = 0] = /(\d+)(?:[.-](\d{1,2})(?![\da-z]))?/i.exec(model) ?? [];
  return Number(major) + Number(minor) / 100;
}

function readListed(entry: unknown): ListedModel | undefined {
  if (!isObject(entry)) return undefined;
  const named = typeof entry['id'] === 'string' ? entry['id'] : entry['name'];
  const model = typeof named === 'string' ? named.replace(/^models\//, '') : '';
  if (!isId(model) || OTHER_PURPOSE.test(model) || !canChat(entry)) return undefined;
  const title = textOf(entry['display_name'] ?? entry['displayName'] ?? (entry['id'] && entry['name']));
  return {
    model,
    ...defined({
      title: title === model ? undefined : title,
      created: readDate(entry['created_at'] ?? entry['created']),
      contextTokens: readContext(entry),
      price: readPrice(entry['pricing']),
    }),
    abilities: readAbilities(entry),
  };
}

function isId(id: string): boolean {
  return id.trim() !== '' && id.length <= MAX_ID_CHARS && !/\p{Cc}/u.test(id);
}

/** Models that do not chat: most providers list them without saying so. */
const OTHER_PURPOSE =
  /embed|moderation|rerank|whisper|transcri|\btts\b|-tts|speech|realtime|dall-e|gpt-image|chatgpt-image|imagen|\bveo-|\bsora|lyria|\baqa\b|davinci|babbage|-ocr-|gpt-(?:4o|audio)[\w-]*audio|gpt-audio|prompt-guard|llama-guard|safeguard|all-minilm|\bbge-/i;

type Fields = Readonly<Record<string, unknown>>;

function canChat(entry: Fields): boolean {
  const { supportedGenerationMethods: methods, architecture, capabilities, type, active } = entry;
  if (active === false) return false;
  if (Array.isArray(methods) && !methods.includes('generateContent')) return false;
  const outputs = field(architecture, 'output_modalities');
  if (Array.isArray(outputs) && !outputs.includes('text')) return false;
  if (field(capabilities, 'completion_chat') === false) return false;
  return !/^(embeddings?|image|audio|rerank|moderation|transcribe)$/.test(textOf(type) ?? '');
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' && value.trim() !== '' ? value : undefined;
}

/** A date as text, or the seconds since 1970. */
function readDate(value: unknown): number | undefined {
  const time = typeof value === 'number' ? value * 1000 : Date.parse(textOf(value) ?? '');
  return Number.isFinite(time) && time > 0 ? time : undefined;
}

function readContext(entry: Fields): number | undefined {
  const sizes = [
    entry['context_length'],
    entry['context_window'],
    entry['max_context_length'],
    entry['inputTokenLimit'],
    entry['max_input_tokens'],
    entry['max_model_len'],
    field(entry['meta'], 'n_ctx_train'),
  ];
  return sizes.filter((size) => typeof size === 'number').find((size) => size > 0);
}

/** OpenRouter has dollars per token, as text. */
function readPrice(pricing: unknown): ModelPrice | undefined {
  const perMillion = (name: string) => {
    const value = textOf(field(pricing, name));
    // Rounded, because 0.000003 * 1,000,000 is not 3.
    const amount = value === undefined ? Number.NaN : Math.round(Number(value) * 1e12) / 1e6;
    return amount >= 0 ? amount : undefined;
  };
  const [input, output] = [perMillion('prompt'), perMillion('completion')];
  if (input === undefined || output === undefined) return undefined;
  const cached = { cachedInput: perMillion('input_cache_read'), cacheWrite: perMillion('input_cache_write') };
  return { input, output, ...defined(cached) };
}

function readAbilities(entry: Fields): readonly Ability[] {
  const { capabilities, supported_parameters: parameters, thinking } = entry;
  const inputs = field(entry['architecture'], 'input_modalities');
  const takes = (name: string) => Array.isArray(inputs) && inputs.includes(name);
  const supports = (name: string) => Array.isArray(parameters) && parameters.includes(name);
  const can = (name: string) => {
    const ability = field(capabilities, name);
    return ability === true || field(ability, 'supported') === true;
  };
  const known: readonly (readonly [Ability, boolean])[] = [
    ['images', takes('image') || can('vision') || can('image_input')],
    ['documents', takes('file') || can('pdf_input')],
    ['audio', takes('audio') || can('audio')],
    ['tools', supports('tools') || can('function_calling')],
    ['reasoning', supports('reasoning') || can('reasoning') || can('thinking') || thinking === true],
  ];
  return known.filter(([, isKnown]) => isKnown).map(([ability]) => ability);
}
