import { isSdkProvider, KEY_HEADERS, wireOf } from '../providers/wire.ts';
import { isLocal } from './modelAddress.ts';
import type { ModelConfig, ProviderName } from './modelConfig.ts';

/**
 * The key for a model from the environment: under the model's name, else under the provider's usual variable. The usual
 * one goes only to the provider's own address, whatever a models.json says.
 */
export function envKey(
  config: ModelConfig,
  env: Readonly<Record<string, string | undefined>>,
): string | undefined {
  const { own, usual } = keyVariables(config);
  const names = [`${KEY_PREFIX}${config.name}`, own, ...(usual === undefined ? [] : [usual])];
  return names.map((name) => env[name]?.trim()).find((key) => key !== undefined && key !== '');
}

/** The variables for the key of this model alone, and of all models of its provider. */
export function keyVariables(config: ModelConfig): {
  readonly own: string;
  readonly usual?: string | undefined;
} {
  return {
    own: `${KEY_PREFIX}${config.name.toUpperCase().replace(/[^A-Z0-9]/g, '_')}`,
    usual: isUsualAddress(config) ? USUAL_VARIABLES[config.provider] : undefined,
  };
}

function isUsualAddress({ provider, baseUrl }: ModelConfig): boolean {
  if (baseUrl === undefined || !isSdkProvider(provider)) return baseUrl === undefined;
  const usual = wireOf({ provider }).defaultBaseUrl ?? '';
  return URL.canParse(baseUrl) && URL.canParse(usual) && new URL(baseUrl).origin === new URL(usual).origin;
}

/** A stored key is bound to this address, so that an edited model entry cannot send it elsewhere. */
export function keyPlace({ provider, baseUrl }: Pick<ModelConfig, 'provider' | 'baseUrl'>): string {
  const address = baseUrl ?? (isSdkProvider(provider) ? wireOf({ provider }).defaultBaseUrl : undefined);
  if (address === undefined) return provider;
  const { origin, pathname } = new URL(address);
  // Both OpenAI protocols use the same account.
  const account = provider === 'openai-chat' ? 'openai' : provider;
  return `${account} ${origin}${pathname.replace(/\/+$/, '')}`;
}

export function needsKey({ provider, baseUrl, headers = {} }: ModelConfig): boolean {
  if (provider === 'vscode' || provider === 'tour') return false;
  if (Object.keys(headers).some((name) => KEY_HEADERS.includes(name.toLowerCase()))) return false;
  // Local servers rarely need a key, and report it if they do.
  return baseUrl === undefined || !isLocal(baseUrl);
}

const KEY_PREFIX = 'FILECHAT_KEY_';
const USUAL_VARIABLES: Readonly<Partial<Record<ProviderName, string>>> = {
  anthropic: 'ANTHROPIC_API_KEY',
  openai: 'OPENAI_API_KEY',
  'openai-chat': 'OPENAI_API_KEY',
  google: 'GOOGLE_GENERATIVE_AI_API_KEY',
};

export type TypedKey =
  | { readonly ok: true; readonly key: string }
  | { readonly ok: false; readonly problem: 'empty' | 'whitespace' | 'characters' };

/** Reads a key as people paste it: in quotes, with a line break, as a header, or as a line of an environment file. */
export function readKey(text: string): TypedKey {
  const key = text
    .replace(/\s*[\r\n]+\s*/g, '')
    .trim()
    .replace(/^(?:export\s+)?[A-Z][A-Z0-9_]*\s*=\s*/, '')
    .replace(/^(?:authorization|x-api-key|x-goog-api-key)\s*:\s*/i, '')
    .replace(/^(["'`“”])(.*?)["'`“”]?;?$/, '$2')
    .replace(/^bearer(?:\s+|$)/i, '')
    .trim();
  if (key === '') return { ok: false, problem: 'empty' };
  if (/\s/.test(key)) return { ok: false, problem: 'whitespace' };
  // The key becomes an HTTP header.
  return /[^\x21-\x7e]/.test(key) ? { ok: false, problem: 'characters' } : { ok: true, key };
}
