import { isLocal } from './modelAddress.ts';

type Wire = 'anthropic' | 'openai' | 'google' | 'openai-compatible';

/** A provider that users can choose without knowing its address. */
export interface Preset {
  /** The part of `provider/model` before the slash. */
  readonly id: string;
  readonly label: string;
  /** What its models are called, if that is not its own name. */
  readonly models?: string;
  readonly provider: Wire;
  /** Undefined for the providers whose address is part of their protocol. */
  readonly baseUrl?: string;
  /** Where the user gets a key. */
  readonly keyPage: string;
  /** Requested to check a key where the list of models is public. */
  readonly checkPath?: string;
  /** The user's variable for the address of a gateway. */
  readonly addressVariable?: string;
  /** Best first; of several models that match, the newest. */
  readonly recommended: readonly RegExp[];
}

export const PRESETS: readonly Preset[] = [
  {
    id: 'anthropic',
    label: 'Anthropic',
    models: 'Claude',
    provider: 'anthropic',
    keyPage: 'https://console.anthropic.com/settings/keys',
    addressVariable: 'ANTHROPIC_BASE_URL',
    recommended: [/^claude-sonnet-/, /^claude-opus-/],
  },
  {
    id: 'openai',
    label: 'OpenAI',
    models: 'GPT',
    provider: 'openai',
    keyPage: 'https://platform.openai.com/api-keys',
    addressVariable: 'OPENAI_BASE_URL',
    recommended: [/^gpt-\d+(?:\.\d+)?$/, /^gpt-\d/],
  },
  {
    id: 'google',
    label: 'Google',
    models: 'Gemini',
    provider: 'google',
    keyPage: 'https://aistudio.google.com/apikey',
    addressVariable: 'GOOGLE_GEMINI_BASE_URL',
    // Keys without billing may use the flash models only.
    recommended: [/^gemini-[\d.]+-flash$/, /^gemini-flash-latest$/, /^gemini-[\d.]+-flash/, /^gemini-/],
  },
  {
    id: 'openrouter',
    label: 'OpenRouter',
    provider: 'openai-compatible',
    baseUrl: 'https://openrouter.ai/api/v1',
    keyPage: 'https://openrouter.ai/settings/keys',
    checkPath: '/key',
    recommended: [/^anthropic\/claude-sonnet-[\d.-]+$/, /^openrouter\/auto$/],
  },
  {
    id: 'mistral',
    label: 'Mistral',
    provider: 'openai-compatible',
    baseUrl: 'https://api.mistral.ai/v1',
    keyPage: 'https://console.mistral.ai/api-keys',
    recommended: [/^mistral-medium-latest$/, /^mistral-large-latest$/, /^mistral-/],
  },
  {
    id: 'groq',
    label: 'Groq',
    models: 'Llama, GPT-OSS',
    provider: 'openai-compatible',
    baseUrl: 'https://api.groq.com/openai/v1',
    keyPage: 'https://console.groq.com/keys',
    recommended: [/^openai\/gpt-oss-120b$/, /^llama-.*-versatile$/],
  },
  {
    id: 'deepseek',
    label: 'DeepSeek',
    provider: 'openai-compatible',
    baseUrl: 'https://api.deepseek.com/v1',
    keyPage: 'https://platform.deepseek.com/api_keys',
    recommended: [/^deepseek-chat$/],
  },
  {
    id: 'xai',
    label: 'xAI',
    models: 'Grok',
    provider: 'openai-compatible',
    baseUrl: 'https://api.x.ai/v1',
    keyPage: 'https://console.x.ai',
    recommended: [/^grok-\d+(?:\.\d+)?(?:-\d{4})?$/, /^grok-\d/],
  },
];

export interface Endpoint {
  readonly provider: Wire;
  readonly baseUrl?: string;
}

type Environment = Readonly<Record<string, string | undefined>>;

/** The provider's own address, or that of the gateway that the user's environment names. */
export function presetEndpoint({ provider, baseUrl, addressVariable }: Preset, env: Environment): Endpoint {
  const gateway = addressVariable === undefined ? undefined : gatewayAddress(provider, env[addressVariable]);
  const address = gateway ?? baseUrl;
  return { provider, ...(address === undefined ? {} : { baseUrl: address }) };
}

/** The variables of Anthropic and Google name the address without the version, unlike OpenAI's. */
function gatewayAddress(provider: Wire, value = ''): string | undefined {
  const address = value.trim().replace(/\/+$/, '');
  if (!/^https?:\/\//.test(address) || !URL.canParse(address)) return undefined;
  const version = provider === 'anthropic' ? '/v1' : provider === 'google' ? '/v1beta' : '';
  return address.endsWith(version) ? address : `${address}${version}`;
}

/** A program that runs models on this machine, at its usual address. */
export interface LocalServer {
  readonly id: string;
  readonly label: string;
  readonly baseUrl: string;
}

const LOCAL_SERVERS: readonly LocalServer[] = [
  { id: 'ollama', label: 'Ollama', baseUrl: 'http://127.0.0.1:11434/v1' },
  { id: 'lmstudio', label: 'LM Studio', baseUrl: 'http://127.0.0.1:1234/v1' },
  { id: 'llamacpp', label: 'llama.cpp', baseUrl: 'http://127.0.0.1:8080/v1' },
  { id: 'vllm', label: 'vLLM', baseUrl: 'http://127.0.0.1:8000/v1' },
];

/** Ollama listens where `OLLAMA_HOST` says. Only addresses of this machine are used. */
export function localServers(env: Environment): readonly LocalServer[] {
  return LOCAL_SERVERS.map((server) => {
    const baseUrl = server.id === 'ollama' ? ollamaAddress(env['OLLAMA_HOST']) : undefined;
    return baseUrl === undefined ? server : { ...server, baseUrl };
  });
}

const OLLAMA_PORT = '11434';

function ollamaAddress(value = ''): string | undefined {
  const host = value.trim().replace(/^(?!https?:\/\/)(?=.)/, 'http://');
  if (!URL.canParse(host)) return undefined;
  const url = new URL(host);
  // A server listens on all addresses there; a client needs one.
  if (url.hostname === '0.0.0.0' || url.hostname === '[::]') url.hostname = '127.0.0.1';
  const hasPort = /:\d+\/*$/.test(host);
  if (!hasPort) url.port = OLLAMA_PORT;
  return isLocal(url.origin) ? `${url.origin}/v1` : undefined;
}

/** The endpoint of `id/model`, for the ids of providers and local servers. */
export function namedEndpoint(id: string): Endpoint | undefined {
  const preset = PRESETS.find((each) => each.id === id);
  if (preset) return presetEndpoint(preset, {});
  const local = LOCAL_SERVERS.find((each) => each.id === id);
  return local && { provider: 'openai-compatible', baseUrl: local.baseUrl };
}
