import type { ModelConfig, ProviderName } from './models.ts';

/** The key that the environment holds for a model: under the model's own name, else where the provider's users keep it. */
export function envKey(
  config: ModelConfig,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const usual = USUAL_VARIABLES[config.provider];
  const names = [
    `${KEY_PREFIX}${config.name}`,
    `${KEY_PREFIX}${config.name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`,
    ...(usual === undefined ? [] : [usual]),
  ];
  return names.map((name) => env[name]?.trim()).find((key) => key !== undefined && key !== '');
}

/** What a stored key is bound to: another address must not get it just because a model's entry was changed. */
export function keyPlace({ provider, baseUrl }: ModelConfig): string {
  const address = baseUrl ?? USUAL_ADDRESSES[provider];
  if (address === undefined) return provider;
  const { origin, pathname } = new URL(address);
  // Both protocols of OpenAI are the same account at the same address.
  const account = provider === 'openai-chat' ? 'openai' : provider;
  return `${account} ${origin}${pathname.replace(/\/+$/, '')}`;
}

/** Whether a request without a key would be in vain. */
export function needsKey({ provider, baseUrl, headers = {} }: ModelConfig): boolean {
  if (provider === 'vscode' || provider === 'tour') return false;
  if (Object.keys(headers).some((name) => KEY_HEADERS.has(name.toLowerCase()))) return false;
  // What runs on this machine rarely asks for one, and says so if it does.
  return baseUrl === undefined || !isLoopback(baseUrl);
}

/** Whether an address cannot leave this machine. */
export function isLoopback(address: string): boolean {
  if (!URL.canParse(address)) return false;
  const { hostname } = new URL(address);
  return /^(?:(?:.+\.)?localhost|127(?:\.\d{1,3}){3}|\[::1\])$/.test(hostname);
}

const KEY_PREFIX = 'FILECHAT_KEY_';
const KEY_HEADERS: ReadonlySet<string> = new Set(['authorization', 'x-api-key', 'api-key', 'x-goog-api-key']);

const USUAL_VARIABLES: Readonly<Partial<Record<ProviderName, string>>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  'openai-chat': 'OPENAI_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
};

const USUAL_ADDRESSES: Readonly<Partial<Record<ProviderName, string>>> = {
  anthropic: 'https://api.anthropic.com/v1',
  openai: 'https://api.openai.com/v1',
  'openai-chat': 'https://api.openai.com/v1',
  google: 'https://generativelanguage.googleapis.com/v1beta',
};
