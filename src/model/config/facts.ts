import { defined } from '../../base/json.ts';
import type { ListPrice } from '../../ports/models.ts';
import { baseUrlOf, isSdkProvider } from '../providers/wire.ts';
import { ABILITIES, type Ability, type ModelConfig } from './modelConfig.ts';

/** What is known about a model. Unknown fields are absent, never guessed. */
export interface ModelFacts {
  readonly contextTokens?: number;
  readonly price?: ListPrice;
  readonly abilities: Abilities;
}

type Abilities = Readonly<Partial<Record<Ability, boolean>>>;

/** A model in facts.json. All of them support tools. */
interface StoredFacts {
  readonly context?: number;
  readonly images: boolean;
  readonly reasoning: boolean;
  readonly price?: ListPrice;
}

type Hosts = Readonly<Record<string, Readonly<Record<string, StoredFacts>>>>;

/** The facts about a model: the user's entry, then the data set. */
export async function factsOf(config: Omit<ModelConfig, 'name'>): Promise<ModelFacts> {
  const { contextTokens, price, abilities } = config;
  const known = config.provider === 'tour' ? TOUR : storedFacts(await loadHosts(), config);
  const own = abilities && Object.fromEntries(ABILITIES.map((each) => [each, abilities.includes(each)]));
  return { ...known, ...defined({ contextTokens, price }), abilities: own ?? known.abilities };
}

const TOUR: ModelFacts = { price: { input: 0, output: 0 }, abilities: {} };

/** Names of well-known models, as a chat can write them. */
export async function wellKnownModels(): Promise<readonly string[]> {
  const hosts = await loadHosts();
  const providers = ['anthropic', 'openai', 'google'] as const;
  return providers.flatMap((provider) =>
    Object.keys(hosts[hostOf({ provider })] ?? {}).map((model) => `${provider}/${model}`),
  );
}

/** Loaded when the first model is looked up. `npm run facts` refreshes the file. */
async function loadHosts(): Promise<Hosts> {
  const { default: facts } = await import('./facts.json', { with: { type: 'json' } });
  return facts.hosts;
}

/** A date, which does not change what a model is. Other endings do: `-preview` and `-2407` can have other prices. */
const DATE = /[-@](?:20\d{6}|20\d{2}-\d{2}-\d{2})$/;

/** By host, because the same model has another price elsewhere, and on this machine can be another one. */
function storedFacts(hosts: Hosts, config: Omit<ModelConfig, 'name'>): ModelFacts {
  // A map, so that nothing comes from a prototype.
  const models = new Map(Object.entries(hosts[hostOf(config)] ?? {}));
  const id = config.model.replace(/^models\//, '');
  const found = models.get(id) ?? models.get(id.replace(DATE, ''));
  if (!found) return { abilities: {} };
  const { context, price, images, reasoning } = found;
  return {
    ...defined({ contextTokens: context, price }),
    abilities: { images, reasoning, tools: true },
  };
}

function hostOf(config: Parameters<typeof baseUrlOf>[0]): string {
  return isSdkProvider(config.provider) ? new URL(baseUrlOf(config)).host : '';
}

/** The ability that a model needs for files of a type. */
const NEEDED: readonly (readonly [type: RegExp, ability: Ability])[] = [
  [/^image\//, 'images'],
  [/^audio\//, 'audio'],
  [/^application\/pdf$/, 'documents'],
];

/** Whether a model is known not to take files of a type. */
export function isRefused(mimeType: string, { abilities }: ModelFacts): boolean {
  return NEEDED.some(([type, ability]) => type.test(mimeType) && abilities[ability] === false);
}
