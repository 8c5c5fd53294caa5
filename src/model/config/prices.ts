import { defined } from '../../base/json.ts';
import type { Usage } from '../../ports/models.ts';
import type { ModelConfig, ModelPrice, ProviderName } from './models.ts';

/** The configured price, else the list price of a well-known model. */
export function priceOf({ provider, model, baseUrl, price }: ModelConfig): ModelPrice | undefined {
  if (price) return price;
  if (provider === 'tour') return { input: 0, output: 0 };
  // Other endpoints have other prices.
  if (baseUrl !== undefined) return undefined;
  const family = model.replace(VERSION, '');
  return FAMILIES[provider]?.get(family);
}

/** Names of well-known models, as a chat can write them. */
export function wellKnownModels(): readonly string[] {
  const providers = ['anthropic', 'openai', 'google'] as const;
  return providers.flatMap((each) => [...(FAMILIES[each]?.keys() ?? [])].map((model) => `${each}/${model}`));
}

/** A date or a word for the newest version, which does not change the price. */
const VERSION = /(?:[-@]\d{8}|-\d{4}-\d{2}-\d{2}|-\d{4}|-latest|-preview(?:-\d{2}-\d{2,4})?)$/;

function family(input: number, output: number, cachedInput: number, cacheWrite?: number): ModelPrice {
  return { input, output, cachedInput, ...defined({ cacheWrite }) };
}

/**
 * List prices of November 2026 for short prompts; some providers charge more for long ones. They are only used for
 * estimates; `price` in filechat.models overrides them.
 */
const ANTHROPIC: ReadonlyMap<string, ModelPrice> = new Map([
  ['claude-fable-5', family(10, 50, 1, 12.5)],
  ['claude-opus-5', family(5, 25, 0.5, 6.25)],
  ['claude-opus-4-8', family(5, 25, 0.5, 6.25)],
  ['claude-opus-4-7', family(5, 25, 0.5, 6.25)],
  ['claude-opus-4-6', family(5, 25, 0.5, 6.25)],
  ['claude-opus-4-5', family(5, 25, 0.5, 6.25)],
  ['claude-opus-4-1', family(15, 75, 1.5, 18.75)],
  ['claude-opus-4', family(15, 75, 1.5, 18.75)],
  ['claude-sonnet-4-6', family(3, 15, 0.3, 3.75)],
  ['claude-sonnet-4-5', family(3, 15, 0.3, 3.75)],
  ['claude-sonnet-4', family(3, 15, 0.3, 3.75)],
  ['claude-3-7-sonnet', family(3, 15, 0.3, 3.75)],
  ['claude-haiku-4-5', family(1, 5, 0.1, 1.25)],
  ['claude-3-5-haiku', family(0.8, 4, 0.08, 1)],
]);

const OPENAI: ReadonlyMap<string, ModelPrice> = new Map([
  ['gpt-5.4', family(2.5, 15, 0.25)],
  ['gpt-5.4-mini', family(0.75, 4.5, 0.075)],
  ['gpt-5.1', family(1.25, 10, 0.125)],
  ['gpt-5', family(1.25, 10, 0.125)],
  ['gpt-5-mini', family(0.25, 2, 0.025)],
  ['gpt-5-nano', family(0.05, 0.4, 0.005)],
  ['gpt-4.1', family(2, 8, 0.5)],
  ['gpt-4.1-mini', family(0.4, 1.6, 0.1)],
  ['gpt-4.1-nano', family(0.1, 0.4, 0.025)],
  ['gpt-4o', family(2.5, 10, 1.25)],
  ['gpt-4o-mini', family(0.15, 0.6, 0.075)],
]);

const GOOGLE: ReadonlyMap<string, ModelPrice> = new Map([
  ['gemini-2.5-pro', family(1.25, 10, 0.125)],
  ['gemini-2.5-flash', family(0.3, 2.5, 0.03)],
  ['gemini-2.5-flash-lite', family(0.1, 0.4, 0.01)],
]);

const FAMILIES: Readonly<Partial<Record<ProviderName, ReadonlyMap<string, ModelPrice>>>> = {
  anthropic: ANTHROPIC,
  openai: OPENAI,
  'openai-chat': OPENAI,
  google: GOOGLE,
};

/** In US dollars. Undefined when the price or the usage is unknown. */
export function costOf(usage: Usage, price: ModelPrice | undefined): number | undefined {
  if (!price || (usage.input === undefined && usage.output === undefined)) return undefined;
  const { input = 0, output = 0 } = usage;
  const cached = Math.min(usage.cachedInput ?? 0, input);
  const written = Math.min(usage.cacheWrite ?? 0, input - cached);
  const dollars =
    (input - cached - written) * price.input +
    cached * (price.cachedInput ?? price.input) +
    written * (price.cacheWrite ?? price.input) +
    output * price.output;
  return dollars / 1_000_000;
}

/** `1.2k in (1.0k cached), 356 out, $0.0042`. */
export function describeUsage(usage: Usage, cost?: number): string {
  const { input, output, cachedInput = 0 } = usage;
  const cached = cachedInput > 0 ? ` (${describeCount(cachedInput)} cached)` : '';
  const parts = [
    ...(input === undefined ? [] : [`${describeCount(input)} in${cached}`]),
    ...(output === undefined ? [] : [`${describeCount(output)} out`]),
    ...(cost === undefined ? [] : [describeCost(cost)]),
  ];
  return parts.join(', ');
}

export function describeCount(tokens: number): string {
  if (tokens < 1000) return String(Math.round(tokens));
  return tokens < 999_950 ? `${(tokens / 1000).toFixed(1)}k` : `${(tokens / 1_000_000).toFixed(1)}M`;
}

export function describeCost(dollars: number): string {
  if (dollars === 0) return '$0';
  if (dollars >= 0.1) return `$${dollars.toFixed(2)}`;
  return dollars < 0.0001 ? '< $0.0001' : `$${dollars.toFixed(4)}`;
}
