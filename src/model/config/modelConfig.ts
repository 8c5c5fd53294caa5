import { messageOf } from '../../base/errors.ts';
import { defined, field, isObject, parseConfig } from '../../base/json.ts';
import type { ModelPrice, Reasoning } from '../../ports/models.ts';
import { REQUEST_PATH } from './modelAddress.ts';
import { namedEndpoint } from './presets.ts';

const PROVIDER_NAMES = [
  'anthropic',
  'openai',
  'openai-chat',
  'openai-compatible',
  'google',
  'vscode',
  'tour',
] as const;

export type ProviderName = (typeof PROVIDER_NAMES)[number];

export const ABILITIES = ['images', 'documents', 'audio', 'tools', 'reasoning'] as const;

export type Ability = (typeof ABILITIES)[number];

export interface ModelConfig {
  /** A name from the settings, or `provider/model`. */
  readonly name: string;
  readonly provider: ProviderName;
  /** The provider's name for it. */
  readonly model: string;
  readonly baseUrl?: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly maxTokens?: number;
  readonly reasoning?: Reasoning;
  readonly price?: ModelPrice;
  readonly contextTokens?: number;
  /** All abilities of the model, if the user lists them. */
  readonly abilities?: readonly Ability[];
}

interface ModelsRead {
  readonly models: ReadonlyMap<string, ModelConfig>;
  /** One sentence per invalid entry or ignored field. */
  readonly problems: string[];
}

/** Reads the value of `filechat.models`. An invalid entry becomes a problem; the others are still used. */
export function readModels(raw: unknown): ModelsRead {
  const models = new Map<string, ModelConfig>();
  const problems: string[] = [];
  if (raw === undefined || raw === null) return { models, problems };
  if (!isObject(raw)) {
    return unreadable('The models must be an object: { "NAME": { "provider": …, "model": … } }.');
  }
  for (const [name, entry] of Object.entries(raw)) {
    try {
      models.set(name, readModel(name, entry));
      if (holdsKey(entry)) {
        problems.push(
          `Model ${JSON.stringify(name)}: a key in the settings is ignored; run “Filechat: Set API Key” and remove it there.`,
        );
      }
    } catch (error) {
      problems.push(`Model ${JSON.stringify(name)} is ignored: ${messageOf(error)}.`);
    }
  }
  return { models, problems };
}

/** Reads a file such as `models.json`: `{ "models": { … } }`. Comments are allowed. */
export function readModelsFile(text: string): ModelsRead {
  let json: unknown;
  try {
    json = parseConfig(text);
  } catch (error) {
    return unreadable(`The models file is not JSON: ${messageOf(error)}.`);
  }
  const models = field(json, 'models');
  return models === undefined
    ? unreadable('The models file has no "models"; it must look like { "models": { "NAME": { … } } }.')
    : readModels(models);
}

const TOUR: ModelConfig = { name: 'tour', provider: 'tour', model: 'tour' };

/** The model of a chat that names none: the default, or else the only one that is configured. */
export function fallbackModel(
  models: ReadonlyMap<string, ModelConfig>,
  defaultModel: string | undefined,
): string | undefined {
  const [only, ...others] = models.keys();
  return defaultModel ?? (others.length === 0 ? only : undefined);
}

/** A configured model, or `provider/model`. A string says why there is none. */
export function findModel(name: string, models: ReadonlyMap<string, ModelConfig>): ModelConfig | string {
  const wanted = name.trim();
  const configured = models.get(wanted);
  if (configured) return configured;
  if (wanted === 'tour') return TOUR;
  const slash = wanted.indexOf('/');
  const prefix = slash > 0 ? wanted.slice(0, slash) : undefined;
  const provider = PROVIDER_NAMES.find((each) => each === prefix);
  const model = wanted.slice(slash + 1).trim();
  if (provider === 'openai-compatible') {
    return `The model “${wanted}” needs an address: add it to filechat.models with a "baseUrl".`;
  }
  if (provider !== undefined && model !== '') return { name: wanted, provider, model };
  const endpoint = prefix === undefined ? undefined : namedEndpoint(prefix);
  if (endpoint !== undefined && model !== '') return { name: wanted, ...endpoint, model };
  return `There is no model “${wanted}”. ${describeChoice(models)}`;
}

function describeChoice(models: ReadonlyMap<string, ModelConfig>): string {
  const names = [...models.keys()].map((each) => `“${each}”`).join(', ');
  const written =
    'a name such as anthropic/MODEL, openai/MODEL, google/MODEL, openrouter/MODEL, ollama/MODEL or vscode/MODEL, or tour';
  return names === ''
    ? `No models are configured in filechat.models; add one, or use ${written}.`
    : `Configured models: ${names}. You can also use ${written}.`;
}

const REASONING: readonly Reasoning[] = ['off', 'low', 'medium', 'high'];

// Unsafe as keys of a plain object.
const RESERVED_NAMES: ReadonlySet<string> = new Set(['__proto__', 'constructor', 'prototype']);
const MAX_NAME_CHARS = 200;

function readModel(name: string, entry: unknown): ModelConfig {
  checkName(name);
  if (!isObject(entry)) throw new Error('it must be an object with "provider" and "model"');
  // A map, so that nothing comes from a prototype.
  const fields = new Map(Object.entries(entry).filter(([, value]) => value !== null));
  const provider = PROVIDER_NAMES.find((each) => each === fields.get('provider'));
  if (provider === undefined) throw new Error(`its "provider" must be one of ${PROVIDER_NAMES.join(', ')}`);
  const model = provider === 'tour' ? 'tour' : readWord('model', fields.get('model'));
  const others = {
    baseUrl: readBaseUrl(provider, fields.get('baseUrl')),
    headers: optional(fields.get('headers'), readHeaders),
    maxTokens: optional(fields.get('maxTokens'), (value) => readTokens('maxTokens', value)),
    reasoning: optional(fields.get('reasoning'), readReasoning),
    price: optional(fields.get('price'), readPrice),
    contextTokens: optional(fields.get('contextTokens'), (value) => readTokens('contextTokens', value)),
    abilities: optional(fields.get('abilities'), readAbilities),
  };
  return { name, provider, model, ...defined(others) };
}

function optional<T>(value: unknown, read: (value: unknown) => T): T | undefined {
  return value === undefined ? undefined : read(value);
}

function checkName(name: string): void {
  if (RESERVED_NAMES.has(name)) throw new Error('its name is reserved; rename it');
  if (!isModelName(name)) {
    throw new Error('its name must be a short text without white space around it; rename it');
  }
}

export function isModelName(name: string): boolean {
  const isShort = name !== '' && name.length <= MAX_NAME_CHARS;
  return isShort && name === name.trim() && !/\p{Cc}/u.test(name) && !RESERVED_NAMES.has(name);
}

function readWord(field: string, value: unknown): string {
  if (typeof value !== 'string' || value.trim() === '') {
    throw new Error(`its "${field}" must be a string that is not empty`);
  }
  return value.trim();
}

/** The SDK adds the last part of the path. */
function readBaseUrl(provider: ProviderName, value: unknown): string | undefined {
  if (value === undefined) {
    if (provider === 'openai-compatible') throw new Error('it needs a "baseUrl", such as https://HOST/v1');
    return undefined;
  }
  const text = readWord('baseUrl', value);
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url?.protocol !== 'http:' && url?.protocol !== 'https:') {
    throw new Error('its "baseUrl" must be a full URL that starts with http:// or https://');
  }
  if (url.username !== '' || url.password !== '') {
    throw new Error('its "baseUrl" contains a user name or a password; remove it and set a key instead');
  }
  const end = REQUEST_PATH.exec(url.pathname)?.[0];
  if (end !== undefined) throw new Error(`its "baseUrl" must end before ${end}`);
  return text.replace(/\/+$/, '');
}

function readHeaders(value: unknown): Readonly<Record<string, string>> {
  if (!isObject(value)) throw new Error('its "headers" must be an object of strings');
  const entries = Object.entries(value).map(([name, text]) => {
    // The value may be a secret, so the message has only the name.
    if (isHeader(name, text)) return [name, String(text)] as const;
    throw new Error(`its header ${JSON.stringify(name)} has a name or value that HTTP does not allow`);
  });
  // Unlike an assignment, this makes "__proto__" an ordinary property.
  return Object.fromEntries(entries);
}

function isHeader(name: string, text: unknown): boolean {
  try {
    new Headers([[name, String(text)]]);
    return typeof text === 'string' || typeof text === 'number';
  } catch {
    return false;
  }
}

function readTokens(name: string, value: unknown): number {
  if (typeof value !== 'number' || !Number.isSafeInteger(value) || value < 1) {
    throw new Error(`its "${name}" must be a whole number above 0`);
  }
  return value;
}

function readAbilities(value: unknown): readonly Ability[] {
  if (!Array.isArray(value) || value.some((each) => !ABILITIES.includes(each))) {
    throw new Error(`its "abilities" must be a list of ${ABILITIES.join(', ')}`);
  }
  return value;
}

function readReasoning(value: unknown): Reasoning {
  const reasoning = REASONING.find((each) => each === value);
  if (reasoning === undefined) throw new Error('its "reasoning" must be "off", "low", "medium" or "high"');
  return reasoning;
}

function readPrice(value: unknown): ModelPrice {
  const read = (key: keyof ModelPrice) => {
    const amount = field(value, key);
    if (amount !== undefined && !(typeof amount === 'number' && Number.isFinite(amount) && amount >= 0)) {
      throw new Error(`its "price.${key}" must be a number of US dollars per million tokens`);
    }
    return amount;
  };
  const input = read('input');
  const output = read('output');
  if (input === undefined || output === undefined) {
    throw new Error('its "price" must have "input" and "output" in US dollars per million tokens');
  }
  const cached = { cachedInput: read('cachedInput'), cacheWrite: read('cacheWrite') };
  return { input, output, ...defined(cached) };
}

function holdsKey(entry: unknown): boolean {
  return isObject(entry) && ['apiKey', 'key', 'api_key'].some((each) => Object.hasOwn(entry, each));
}

function unreadable(problem: string): ModelsRead {
  return { models: new Map(), problems: [problem] };
}
