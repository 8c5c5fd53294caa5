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
import { defined, isObject } from '../../base/json.ts';
import { describeSize } from '../../base/size.ts';
import type {
  ChatModel,
  ModelEvent,
  ModelRequest,
  ModelTool,
  OwnFilePart,
  Reasoning,
} from '../../ports/models.ts';
import { isRefused, type ModelFacts } from '../config/facts.ts';
import type { ModelConfig } from '../config/modelConfig.ts';
import { fitImages } from '../request/fitImages.ts';
import { filesOf, moveFiles } from '../request/messages.ts';
import { headersFor, hostOf } from './endpoint.ts';
import { fileOnServer, type StoredFile } from './madeFiles.ts';
import { ModelError, type RequestContext, stopped } from './modelError.ts';
import { hasOwnTool, ownTools } from './ownTools.ts';
import { holdsReasoning, readFiles, toPrompt } from './prompt.ts';
import { refusedFeature } from './refusals.ts';
import { type StreamOptions, streamEvents } from './stream.ts';
import { baseUrlOf, KEY_HEADERS, type Wire, wireOf } from './wire.ts';

interface SdkModelOptions {
  readonly key?: string | undefined;
  readonly facts?: ModelFacts | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
}

/** A model behind HTTP. Throws an error for the user when the configuration cannot work. */
export function createSdkModel(config: ModelConfig, options: SdkModelOptions): ChatModel {
  const wire = wireOf(config);
  const secrets = [options.key ?? '', ...Object.values(config.headers ?? {})];
  const { name, model } = config;
  const context = { host: hostOf(config), baseUrl: baseUrlOf(config), model, name, secrets };
  const source: ModelSource = { config, options, wire, context };
  return {
    name: config.name,
    provider: config.provider,
    accepts: (mimeType) => wire.files.has(mimeType) && !(options.facts && isRefused(mimeType, options.facts)),
    maxToolDescriptionChars: wire.maxToolDescriptionChars,
    hasOwnTool: (tool) => hasOwnTool(config, tool),
    price: options.facts?.price,
    stream: (request, signal) => stream(source, request, signal),
    preview: async (request) =>
      previewRequest({
        createModel: (fetch) => createLanguageModel(source, fetch),
        call: await prepareCall(source, request, new AbortController().signal),
        isWhole: request.isWhole === true,
        secretHeaders: Object.keys(config.headers ?? {}),
      }),
  };
}

interface ModelSource {
  readonly config: ModelConfig;
  readonly options: SdkModelOptions;
  readonly wire: Wire;
  readonly context: RequestContext;
}

type Events = AsyncGenerator<ModelEvent, void, undefined>;

/**
 * A signature is valid for one model of one account, while a chat file is shared. A request that is refused because
 * of one is repeated without reasoning; if that fails too, the first refusal is reported.
 */
async function* stream(source: ModelSource, request: ModelRequest, signal: AbortSignal): Events {
  let refusal: ModelError | undefined;
  for (const sendReasoning of [true, false]) {
    const call = await prepareCall(source, request, signal, sendReasoning);
    let hasBegun = false;
    try {
      for await (const event of send(source, { call, isWhole: request.isWhole === true }, signal)) {
        hasBegun = true;
        yield event;
      }
      return;
    } catch (error) {
      const isRefused = !hasBegun && error instanceof ModelError && error.status === 400;
      if (!isRefused || refusedFeature(error, request)) throw error;
      refusal ??= error;
      if (!holdsReasoning(call.prompt)) throw refusal;
    }
  }
}

async function prepareCall(
  { config, wire }: ModelSource,
  given: ModelRequest,
  signal: AbortSignal,
  sendReasoning = true,
): Promise<LanguageModelV4CallOptions> {
  const takesOwnFile = ({ metadata }: OwnFilePart) => wire.takesOwnFile?.(config.model, metadata) === true;
  const moved = { ...given, messages: moveFiles(given.messages, takesOwnFile) };
  const request = await fitImages(moved, config.provider, signal).catch((error: unknown) => {
    throw signal.aborted ? stopped() : error;
  });
  const files = request.messages.flatMap(filesOf).filter(({ mimeType }) => wire.files.has(mimeType));
  const bytes = await readFiles(files, signal);
  const prompt = toPrompt(request, { wire, model: config.model, bytes, sendReasoning });
  return toCallOptions(config, request, prompt);
}

function send(
  source: ModelSource,
  asked: Pick<StreamOptions, 'call' | 'isWhole'>,
  signal: AbortSignal,
): Events {
  const { config, wire, context, options } = source;
  const { fetch = globalThis.fetch, key } = options;
  const createModel: StreamOptions['createModel'] = (watched) => createLanguageModel(source, watched);
  const openFile = (stored: StoredFile) => fileOnServer({ config, key, fetch }, stored);
  return streamEvents({ config, fetch, wire, context, signal, createModel, openFile, ...asked });
}

/** For models other than Claude, whose limits it knows, the SDK would request only 4096. */
const ANTHROPIC_MAX_TOKENS = 8192;
const EFFORTS = { off: 'none', low: 'low', medium: 'medium', high: 'high' } as const;
const CACHED = { anthropic: { cacheControl: { type: 'ephemeral' } } };

function toCallOptions(
  config: ModelConfig,
  request: ModelRequest,
  prompt: LanguageModelV4Prompt,
): LanguageModelV4CallOptions {
  const reasoning = request.reasoning ?? config.reasoning;
  const maxOutputTokens = request.maxTokens ?? config.maxTokens ?? defaultMaxTokens(config);
  const tools = request.tools.map(toTool);
  const own = ownTools(config, request.ownTools ?? []);
  const providerOptions = optionsFor(config, reasoning);
  if (config.provider === 'anthropic') markForCache(prompt, tools);
  return {
    prompt,
    ...(tools.length + own.length > 0 && { tools: [...own, ...tools] }),
    ...(reasoning && { reasoning: EFFORTS[reasoning] }),
    ...defined({ maxOutputTokens, temperature: request.temperature, providerOptions }),
  };
}

function defaultMaxTokens({ provider, model }: ModelConfig): number | undefined {
  return provider === 'anthropic' && !model.includes('claude') ? ANTHROPIC_MAX_TOKENS : undefined;
}

function optionsFor(
  config: ModelConfig,
  reasoning: Reasoning | undefined,
): Record<string, JSONObject> | undefined {
  const thinks = reasoning !== undefined && reasoning !== 'off';
  const outputs = outputOptions(config);
  switch (config.provider) {
    case 'openai':
      // The file is the only state.
      return { openai: { store: false, ...(thinks && { reasoningSummary: 'auto' }) } };
    case 'google':
      return { google: { ...outputs, ...(thinks && { thinkingConfig: { includeThoughts: true } }) } };
    case 'openai-compatible':
      return { openaiCompatible: outputs };
    default:
      return undefined;
  }
}

function toTool({ name, description, inputSchema }: ModelTool): LanguageModelV4FunctionTool {
  return {
    type: 'function',
    name,
    ...(description !== '' && { description }),
    // Providers accept only object schemas.
    inputSchema: isObject(inputSchema)
      ? { ...inputSchema, type: 'object' }
      : { type: 'object', properties: {} },
  };
}

/**
 * Anthropic caches up to a mark. The marks are after the tools and the system text, which stay the same for a whole
 * chat, and after the last two user or tool messages, so that the next request finds a mark of this one.
 */
function markForCache(prompt: LanguageModelV4Prompt, tools: LanguageModelV4FunctionTool[]): void {
  const head = prompt[0]?.role === 'system' ? prompt[0] : tools.at(-1);
  const last = prompt.filter(({ role }) => role === 'user' || role === 'tool').slice(-2);
  for (const each of head === undefined ? last : [head, ...last]) each.providerOptions = CACHED;
}

/**
 * The SDK's model for one request. The classes are used instead of the factories around them, because those read keys
 * and addresses from the environment, while a key belongs to the endpoint that it was set for. They are also smaller.
 */
function createLanguageModel(
  { config, options }: ModelSource,
  fetch: typeof globalThis.fetch,
): LanguageModelV4 {
  const { provider, model } = config;
  const baseURL = baseUrlOf(config);
  const headers = headersFor(config, options.key);
  const settings = { baseURL, headers, fetch, generateId: randomUUID };
  const url = ({ path }: { readonly path: string }) => `${baseURL}${path}`;
  switch (provider) {
    case 'anthropic':
      return new AnthropicLanguageModel(model, { ...settings, provider: 'anthropic.messages' });
    case 'openai':
      return new OpenAIResponsesLanguageModel(model, { ...settings, url, provider: 'openai.responses' });
    case 'openai-chat':
      return new OpenAIChatLanguageModel(model, {
        ...settings,
        url,
        provider: 'openai.chat',
        fetch: withFields(fetch, outputOptions(config)),
      });
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

/**
 * What the request must ask for so that a model makes images or speaks. Providers do not list which models can, but
 * they name them so.
 */
export function outputOptions({ provider, model }: Pick<ModelConfig, 'provider' | 'model'>): JSONObject {
  if (provider === 'google' && /-tts\b/.test(model)) return { responseModalities: ['AUDIO'] };
  if (provider === 'google' && /\bimage\b/.test(model)) return { responseModalities: ['TEXT', 'IMAGE'] };
  if (provider === 'openai-compatible' && /\bimage\b/.test(model)) return { modalities: ['image', 'text'] };
  if (provider === 'openai-chat' && /\baudio\b/.test(model)) return SPOKEN;
  return {};
}

/** Of the formats of audio, OpenAI streams only this one. */
const SPOKEN = { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'pcm16' } };

/** Adds fields to the body of a request, which the SDK has no option for. */
function withFields(fetch: typeof globalThis.fetch, fields: JSONObject): typeof globalThis.fetch {
  if (Object.keys(fields).length === 0) return fetch;
  return (input, init) => {
    const body = { ...JSON.parse(String(init?.body)), ...fields };
    return fetch(input, { ...init, body: JSON.stringify(body) });
  };
}

interface PreviewOptions {
  readonly createModel: (fetch: typeof globalThis.fetch) => LanguageModelV4;
  readonly call: LanguageModelV4CallOptions;
  readonly isWhole: boolean;
  /** Headers that the user has configured. */
  readonly secretHeaders: readonly string[];
}

interface Captured {
  readonly url: string;
  readonly headers: Headers;
  readonly body: unknown;
}

/** The request as text. The SDK creates it, and `fetch` throws instead of sending it. */
async function previewRequest(options: PreviewOptions): Promise<string> {
  const { createModel, call, isWhole, secretHeaders } = options;
  let captured: Captured | undefined;
  const model = createModel(async (input, init) => {
    const body: unknown = JSON.parse(String(init?.body ?? 'null'));
    captured = { url: String(input), headers: new Headers(init?.headers), body };
    throw new Error('Nothing is sent for a preview.');
  });
  try {
    await (isWhole ? model.doGenerate(call) : model.doStream(call));
  } catch (error) {
    if (captured === undefined) throw error;
  }
  return captured === undefined ? '' : describeRequest(captured, secretHeaders);
}

function describeRequest({ url, headers, body }: Captured, secretHeaders: readonly string[]): string {
  const secret = new Set([...KEY_HEADERS, ...secretHeaders.map((name) => name.toLowerCase())]);
  const lines = [...headers].map(([name, value]) => `${name}: ${secret.has(name) ? '«hidden»' : value}`);
  const address = url.replace(/([?&]key=)[^&]*/g, '$1«hidden»');
  return [`POST ${address}`, ...lines, '', JSON.stringify(elide(body), null, 2), ''].join('\n');
}

/** Shorter values are shown: they may be plain text. */
const MIN_OPAQUE_CHARS = 100;
const OPAQUE = new Set(['signature', 'encrypted_content', 'thoughtSignature', 'thought_signature']);

function elide(value: unknown, key = '', owner: Readonly<Record<string, unknown>> = {}): unknown {
  if (typeof value === 'string') return elideText(value, key, owner);
  if (Array.isArray(value)) return value.map((each) => elide(each));
  if (!isObject(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([name, each]) => [name, elide(each, name, value)]));
}

function elideText(text: string, key: string, owner: Readonly<Record<string, unknown>>): string {
  const url = /^data:([^;,]{1,100});base64,/.exec(text);
  if (url !== null) return `${url[0]}${describe(text.slice(url[0].length), url[1] ?? '')}`;
  if (key === 'data') return describe(text, typeOf(owner));
  if (OPAQUE.has(key) && text.length > MIN_OPAQUE_CHARS) return describe(text, key);
  return text;
}

/** The type beside the bytes, whose field name depends on the provider. */
function typeOf(owner: Readonly<Record<string, unknown>>): string {
  const type = owner['media_type'] ?? owner['mimeType'] ?? owner['format'] ?? owner['type'];
  return typeof type === 'string' ? type : 'data';
}

function describe(base64: string, what: string): string {
  const padding = /={0,2}$/.exec(base64)?.[0].length ?? 0;
  return `«${describeSize(Math.floor((base64.length * 3) / 4) - padding)} of ${what}»`;
}
