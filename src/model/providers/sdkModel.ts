import { randomUUID } from 'node:crypto';
import { AnthropicLanguageModel } from '@ai-sdk/anthropic/internal';
import { GoogleLanguageModel } from '@ai-sdk/google/internal';
import { OpenAIChatLanguageModel, OpenAIResponsesLanguageModel } from '@ai-sdk/openai/internal';
import { OpenAICompatibleChatLanguageModel } from '@ai-sdk/openai-compatible';
import type {
  JSONObject,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider';
import { isObject } from '../../base/json.ts';
import type { ChatModel, ModelEvent, ModelRequest, ModelTool, Reasoning } from '../../ports/models.ts';

import type { ModelConfig } from '../config/models.ts';
import { createEndpointFetch, type EndpointOptions, headersFor, hostOf } from './endpoint.ts';
import { type AboutRequest, ModelError } from './failure.ts';
import { filesOf, readFiles } from './files.ts';
import { previewRequest } from './preview.ts';
import { holdsReasoning, toPrompt } from './prompt.ts';
import { streamEvents } from './stream.ts';
import { baseUrlOf, type Wire, wireOf } from './wire.ts';

export interface SdkModelOptions {
  readonly key?: string | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** A model behind HTTP. Throws an error fit for the user when the config cannot work. */
export function createSdkModel(config: ModelConfig, options: SdkModelOptions): ChatModel {
  return new SdkModel(config, options);
}

class SdkModel implements ChatModel {
  readonly name: string;
  readonly provider: string;
  #config: ModelConfig;
  #options: SdkModelOptions;
  #wire: Wire;
  #about: AboutRequest;

  constructor(config: ModelConfig, options: SdkModelOptions) {
    this.name = config.name;
    this.provider = config.provider;
    this.#config = config;
    this.#options = options;
    this.#wire = wireOf(config);
    const secrets = [options.key ?? '', ...Object.values(config.headers ?? {})];
    this.#about = { host: hostOf(config), model: config.model, secrets, now: () => Date.now() };
  }

  accepts(mimeType: string): boolean {
    return this.#wire.files.has(mimeType);
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent, void, undefined> {
    const call = await this.#prepare(request, signal, true);
    try {
      yield* this.#send(call, signal);
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      if (!holdsReasoning(call.prompt)) throw error.cause;
      yield* this.#sendWithoutReasoning(request, signal, error.cause);
    }
  }

  async preview(request: ModelRequest): Promise<string> {
    const { key } = this.#options;
    return previewRequest({
      createModel: (fetch) =>
        createLanguageModel(this.#config, key, this.#endpointFetch(fetch, { onBytes: () => {} })),
      call: await this.#prepare(request, new AbortController().signal, true),
      secretHeaders: Object.keys(this.#config.headers ?? {}),
    });
  }

  async #prepare(
    request: ModelRequest,
    signal: AbortSignal,
    sendReasoning: boolean,
  ): Promise<LanguageModelV4CallOptions> {
    const files = filesOf(request.messages).filter(({ mimeType }) => this.#wire.files.has(mimeType));
    const bytes = await readFiles(files, signal);
    const { model } = this.#config;
    const prompt = toPrompt(request, { wire: this.#wire, model, bytes, sendReasoning });
    return toCallOptions(this.#config, request, prompt);
  }

  /** Ends in a `Refusal` when the provider would not have the request, and has said nothing else. */
  async *#send(
    call: LanguageModelV4CallOptions,
    signal: AbortSignal,
  ): AsyncGenerator<ModelEvent, void, undefined> {
    const { key, fetch = globalThis.fetch } = this.#options;
    let hasBegun = false;
    try {
      const events = streamEvents({
        wire: this.#wire,
        about: this.#about,
        signal,
        createModel: (watch) => createLanguageModel(this.#config, key, this.#endpointFetch(fetch, watch)),
        call,
      });
      for await (const event of events) {
        hasBegun = true;
        yield event;
      }
    } catch (error) {
      const isRefused = error instanceof ModelError && error.status === 400;
      throw isRefused && !hasBegun ? new Refusal(error) : error;
    }
  }

  /**
   * Signatures hold for one model of one account, while a file goes from hand to hand. One that is no longer
   * accepted must not stop the chat; if it was not the reason, the first refusal is the one to tell.
   */
  async *#sendWithoutReasoning(
    request: ModelRequest,
    signal: AbortSignal,
    refusal: ModelError,
  ): AsyncGenerator<ModelEvent, void, undefined> {
    try {
      yield* this.#send(await this.#prepare(request, signal, false), signal);
    } catch (error) {
      throw error instanceof Refusal ? refusal : error;
    }
  }

  #endpointFetch(
    fetch: typeof globalThis.fetch,
    watch: Pick<EndpointOptions, 'onBytes' | 'onAnswer'>,
  ): typeof globalThis.fetch {
    return createEndpointFetch({ config: this.#config, fetch, ...watch });
  }
}

/** A request that a provider would not have. Leaves this file only as its cause. */
class Refusal extends Error {
  override readonly cause: ModelError;

  constructor(cause: ModelError) {
    super(cause.message);
    this.cause = cause;
  }
}

/** The package knows the limits of Claude; for others at the same kind of endpoint it would ask for 4096. */
const ANTHROPIC_MAX_TOKENS = 8192;
const EFFORTS = { off: 'none', low: 'low', medium: 'medium', high: 'high' } as const;
const CACHED = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/** Everything of a call but its signal. */
function toCallOptions(
  config: ModelConfig,
  request: ModelRequest,
  prompt: LanguageModelV4Prompt,
): LanguageModelV4CallOptions {
  const reasoning = request.reasoning ?? config.reasoning;
  const maxOutputTokens = request.maxTokens ?? config.maxTokens ?? defaultMaxTokens(config);
  const tools = request.tools.map(toTool);
  const providerOptions = optionsFor(config, reasoning);
  if (config.provider === 'anthropic') markForCache(prompt, tools);
  return {
    prompt,
    ...(tools.length > 0 && { tools }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(request.temperature !== undefined && { temperature: request.temperature }),
    ...(reasoning !== undefined && { reasoning: EFFORTS[reasoning] }),
    ...(providerOptions !== undefined && { providerOptions }),
  };
}

function defaultMaxTokens({ provider, model }: ModelConfig): number | undefined {
  return provider === 'anthropic' && !model.includes('claude') ? ANTHROPIC_MAX_TOKENS : undefined;
}

function optionsFor(
  { provider }: ModelConfig,
  reasoning: Reasoning | undefined,
): Record<string, JSONObject> | undefined {
  const thinks = reasoning !== undefined && reasoning !== 'off';
  switch (provider) {
    case 'openai':
      // Nothing is kept at the server, so that the file is the only state.
      return { openai: { store: false, ...(thinks && { reasoningSummary: 'auto' }) } };
    case 'google':
      return thinks ? { google: { thinkingConfig: { includeThoughts: true } } } : undefined;
    default:
      return undefined;
  }
}

function toTool({ name, description, inputSchema }: ModelTool): LanguageModelV4FunctionTool {
  return {
    type: 'function',
    name,
    ...(description !== '' && { description }),
    // The providers take only schemas of objects.
    inputSchema: isObject(inputSchema)
      ? { ...inputSchema, type: 'object' }
      : { type: 'object', properties: {} },
  };
}

/**
 * Anthropic caches up to a mark: after the tools and the system, which stay the same for a whole chat, and
 * after the last two messages of ours, so that the next request finds the mark of this one.
 */
function markForCache(prompt: LanguageModelV4Prompt, tools: LanguageModelV4FunctionTool[]): void {
  const head = prompt[0]?.role === 'system' ? prompt[0] : tools.at(-1);
  const ours = prompt.filter(({ role }) => role === 'user' || role === 'tool').slice(-2);
  for (const each of head === undefined ? ours : [head, ...ours]) each.providerOptions = CACHED;
}

/**
 * The package's model for one request. The classes are used, as other packages of the SDK do, and not the
 * factories around them: those look for keys and addresses in the environment, some as soon as they are
 * loaded, while a key belongs to the endpoint that it was set for. They also weigh a fifth less.
 */
function createLanguageModel(
  config: ModelConfig,
  key: string | undefined,
  fetch: typeof globalThis.fetch,
): LanguageModelV4 {
  const { provider, model } = config;
  const baseURL = baseUrlOf(config);
  const settings = { baseURL, headers: headersFor(config, key), fetch, generateId: randomUUID };
  const url = ({ path }: { readonly path: string }) => `${baseURL}${path}`;
  switch (provider) {
    case 'anthropic':
      return new AnthropicLanguageModel(model, { ...settings, provider: 'anthropic.messages' });
    case 'openai':
      return new OpenAIResponsesLanguageModel(model, { ...settings, url, provider: 'openai.responses' });
    case 'openai-chat':
      return new OpenAIChatLanguageModel(model, { ...settings, url, provider: 'openai.chat' });
    case 'google':
      return new GoogleLanguageModel(model, { ...settings, provider: 'google.generative-ai' });
    default:
      return new OpenAICompatibleChatLanguageModel(model, {
        ...settings,
        url,
        provider: 'openaiCompatible.chat',
        includeUsage: true,
      });
  }
}
