import type { LanguageModelV4CallOptions } from '@ai-sdk/provider';
import type { ChatModel, ModelEvent, ModelRequest } from '../../ports.ts';
import type { ModelConfig } from '../config/models.ts';
import { toCallOptions } from './callOptions.ts';
import { createEndpointFetch, type EndpointOptions, hostOf } from './endpoint.ts';
import { type AboutRequest, ModelError } from './failure.ts';
import { filesOf, readFiles } from './files.ts';
import { previewRequest } from './preview.ts';
import { holdsReasoning, toPrompt } from './prompt.ts';
import { createLanguageModel } from './provider.ts';
import { streamEvents } from './stream.ts';
import { type Wire, wireOf } from './wire.ts';

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
