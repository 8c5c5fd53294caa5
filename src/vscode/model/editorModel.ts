import * as vscode from 'vscode';
import { deferred } from '../../base/async.ts';
import { isObject } from '../../base/json.ts';
import type {
  ChatModel,
  ModelEvent,
  ModelFailure,
  ModelRequest,
  ModelTool,
  Usage,
} from '../../ports/models.ts';

import {
  type EditorContent,
  type EditorMessage,
  type EditorPart,
  editorMessages,
  previewMessages,
  wordsOf,
} from './editorMessages.ts';

/** What every provider of the editor takes, if it takes images at all. */
const IMAGE_TYPES: ReadonlySet<string> = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);
/** A provider that does not come to an end with its counting must not keep a finished reply waiting. */
const COUNT_TIMEOUT_MS = 2_000;
const JUSTIFICATION = vscode.l10n.t('The chat that you run names this model.');

/** One of the editor's own language models, such as Copilot's. */
export class EditorModel implements ChatModel {
  readonly provider = 'vscode';
  readonly name: string;
  readonly #model: vscode.LanguageModelChat;
  readonly #imagePart = findImagePart();

  constructor(model: vscode.LanguageModelChat, name = `vscode/${model.id}`) {
    this.#model = model;
    this.name = name;
  }

  /** Stable since VS Code 1.106; before that, its models get no images. */
  accepts(mimeType: string): boolean {
    return this.#imagePart !== undefined && IMAGE_TYPES.has(mimeType);
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    using stop = new Stop(signal);
    try {
      const messages = this.#messages(request);
      const sent = await stop.orThrow(Promise.all(messages.map((each) => this.#render(each, signal))));
      const input = this.#count(wordsOf(messages), stop.token);
      const response = await stop.orThrow(this.#model.sendRequest(sent, requestOptions(request), stop.token));
      const output: string[] = [];
      let calls = 0;
      for await (const part of stop.each(response.stream)) {
        const event = readPart(part);
        if (event?.kind === 'text') output.push(event.text);
        if (event?.kind === 'call') output.push(event.argumentsText);
        if (event?.kind === 'call') calls += 1;
        if (event) yield event;
      }
      const usage = await this.#usage(input, output.join(''), stop.token);
      yield { kind: 'finish', reason: calls > 0 ? 'calls' : 'stop', usage };
    } catch (error) {
      throw signal.aborted ? stoppedFailure(this.name) : editorFailure(error, this.name);
    }
  }

  async preview(request: ModelRequest): Promise<string> {
    const { vendor, id, family, version } = this.#model;
    const { tools, modelOptions } = requestOptions(request);
    const messages = previewMessages(this.#messages(request));
    return JSON.stringify(
      { model: { vendor, id, family, version }, messages, tools, modelOptions },
      undefined,
      2,
    );
  }

  #messages(request: ModelRequest): readonly EditorMessage[] {
    return editorMessages(request, (mimeType) => this.accepts(mimeType));
  }

  async #render(message: EditorMessage, signal: AbortSignal): Promise<vscode.LanguageModelChatMessage> {
    const { User, Assistant } = vscode.LanguageModelChatMessageRole;
    const parts = await Promise.all(message.parts.map((part) => this.#renderPart(part, signal)));
    return new vscode.LanguageModelChatMessage(message.role === 'user' ? User : Assistant, parts);
  }

  async #renderPart(part: EditorPart, signal: AbortSignal): Promise<vscode.LanguageModelInputPart> {
    if (part.kind === 'call') return new vscode.LanguageModelToolCallPart(part.id, part.name, part.input);
    if (part.kind !== 'result') return this.#renderContent(part, signal);
    const content = await Promise.all(part.content.map((each) => this.#renderContent(each, signal)));
    return new vscode.LanguageModelToolResultPart(part.id, content);
  }

  async #renderContent(part: EditorContent, signal: AbortSignal): Promise<vscode.LanguageModelTextPart> {
    if (part.kind === 'text') return new vscode.LanguageModelTextPart(part.text);
    const bytes = await part.file.read(signal);
    return this.#imagePart?.(bytes, part.file.mimeType) ?? new vscode.LanguageModelTextPart(part.file.name);
  }

  async #usage(input: Count, text: string, token: vscode.CancellationToken): Promise<Usage> {
    const output = text === '' ? undefined : this.#count(text, token);
    return { input: await input, output: await output };
  }

  /** An estimate by the model's own tokenizer, without images; nothing when it cannot say. Never rejects. */
  async #count(text: string, token: vscode.CancellationToken): Count {
    let timer: NodeJS.Timeout | undefined;
    const timeout = new Promise<undefined>((resolve) => {
      timer = setTimeout(() => resolve(undefined), COUNT_TIMEOUT_MS);
    });
    try {
      return await Promise.race([this.#model.countTokens(text, token), timeout]);
    } catch {
      return undefined;
    } finally {
      clearTimeout(timer);
    }
  }
}

type Count = Promise<number | undefined>;

/** All models that the editor offers; without a sign-in there may be none. */
export async function listEditorModels(): Promise<readonly vscode.LanguageModelChat[]> {
  return vscode.lm.selectChatModels();
}

/** The model that `vscode/NAME` stands for: by its id, by `vendor/id`, or the first of a family. */
export function findEditorModel(
  models: readonly vscode.LanguageModelChat[],
  name: string,
): vscode.LanguageModelChat | undefined {
  return (
    models.find(({ id }) => id === name) ??
    models.find(({ vendor, id }) => `${vendor}/${id}` === name) ??
    models.find(({ family }) => family === name)
  );
}

/** The shortest name by which `findEditorModel` finds it again. */
export function editorModelName(
  model: vscode.LanguageModelChat,
  among: readonly vscode.LanguageModelChat[],
): string {
  const found = findEditorModel(among, model.id);
  const isFirst = found === undefined || found.vendor === model.vendor;
  return `vscode/${isFirst ? model.id : `${model.vendor}/${model.id}`}`;
}

/** Only what the API promises is read; other parts, such as a provider's own data, are nobody's business here. */
function readPart(part: unknown): Extract<ModelEvent, { kind: 'text' | 'call' }> | undefined {
  if (part instanceof vscode.LanguageModelTextPart) {
    return part.value === '' ? undefined : { kind: 'text', text: part.value };
  }
  if (!(part instanceof vscode.LanguageModelToolCallPart)) return undefined;
  const { callId, name, input } = part;
  return { kind: 'call', key: callId, name, argumentsText: JSON.stringify(input ?? {}) };
}

/** The names of the options are those that Copilot's models know; others do not look at them. */
function requestOptions({ tools, maxTokens, temperature }: ModelRequest) {
  const modelOptions = {
    ...(maxTokens === undefined ? {} : { max_tokens: maxTokens }),
    ...(temperature === undefined ? {} : { temperature }),
  };
  return {
    justification: JUSTIFICATION,
    ...(tools.length === 0 ? {} : { tools: tools.map(renderTool) }),
    ...(Object.keys(modelOptions).length === 0 ? {} : { modelOptions }),
  } satisfies vscode.LanguageModelChatRequestOptions;
}

function renderTool({ name, description, inputSchema }: ModelTool): vscode.LanguageModelChatTool {
  return { name, description, ...(isObject(inputSchema) ? { inputSchema } : {}) };
}

type MakeImagePart = (bytes: Uint8Array, mimeType: string) => vscode.LanguageModelTextPart;

/** The types that we compile against are of VS Code 1.105, which had the class as a proposal only. */
const IMAGES_SINCE_MINOR = 106;

function findImagePart(): MakeImagePart | undefined {
  const [major = 0, minor = 0] = vscode.version.split('.').map(Number);
  const found: unknown = Reflect.get(vscode, 'LanguageModelDataPart');
  const isStable = major > 1 || (major === 1 && minor >= IMAGES_SINCE_MINOR);
  if (!isStable || !hasImageMaker(found)) return undefined;
  return (bytes, mimeType) => found.image(bytes, mimeType);
}

function hasImageMaker(value: unknown): value is { readonly image: MakeImagePart } {
  return typeof value === 'function' && 'image' in value && typeof value.image === 'function';
}

/** A stop by the signal: told to the provider, and not waited for if the provider does not listen. */
class Stop implements Disposable {
  readonly #signal: AbortSignal;
  readonly #source = new vscode.CancellationTokenSource();
  readonly #stopped = deferred<never>();
  readonly #stop = () => {
    this.#source.cancel();
    this.#stopped.reject(this.#signal.reason);
  };

  constructor(signal: AbortSignal) {
    this.#signal = signal;
    // Nobody may be waiting at that moment.
    this.#stopped.promise.catch(() => undefined);
    if (signal.aborted) this.#stop();
    else signal.addEventListener('abort', this.#stop, { once: true });
  }

  get token(): vscode.CancellationToken {
    return this.#source.token;
  }

  orThrow<T>(work: PromiseLike<T>): Promise<T> {
    return Promise.race([this.#stopped.promise, work]);
  }

  async *each<T>(parts: AsyncIterable<T>): AsyncGenerator<T> {
    const iterator = parts[Symbol.asyncIterator]();
    for (;;) {
      const next = await this.orThrow(iterator.next());
      if (next.done) return;
      yield next.value;
    }
  }

  /** Whoever stops listening early wants no more of it either. */
  [Symbol.dispose](): void {
    this.#signal.removeEventListener('abort', this.#stop);
    this.#source.cancel();
    this.#source.dispose();
  }
}

/** Why one of the editor's models did not answer, in plain words. Whether to try again is left to the user: most answers are counted. */
export class EditorModelFailure extends Error implements ModelFailure {
  readonly kind = 'modelFailure';
  readonly retryable = false;
  override readonly name = 'EditorModelFailure';
}

function editorFailure(error: unknown, model: string): ModelFailure {
  if (error instanceof EditorModelFailure) return error;
  const words = messageOf(error);
  const known = error instanceof vscode.LanguageModelError ? EXPLAINED[error.code] : undefined;
  const message = known?.(model, sentence(words)) ?? `VS Code’s model ${model} failed: ${sentence(words)}`;
  return new EditorModelFailure(message, { cause: error });
}

function stoppedFailure(model: string): ModelFailure {
  return new EditorModelFailure(`The request to ${model} was stopped.`);
}

/** By the codes that the editor gives to its errors. */
const EXPLAINED: Readonly<Record<string, (model: string, words: string) => string>> = {
  [vscode.LanguageModelError.NoPermissions.name]: (model) =>
    `Filechat may not use VS Code’s model ${model}. Run the chat again and choose Allow, or allow it with “Manage Language Model Access” in the Accounts menu.`,
  [vscode.LanguageModelError.Blocked.name]: (model, words) =>
    `VS Code blocked the request to ${model}: ${words} If a quota is used up, wait, or choose another model with “Filechat: Select Model”.`,
  [vscode.LanguageModelError.NotFound.name]: (model) =>
    `VS Code has no model ${model} any more. Choose another with “Filechat: Select Model”.`,
};

/** An unspecified error of a model has the real one as its cause. */
function messageOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause.message : '';
  return error.message || cause || 'it gave no reason';
}

function sentence(words: string): string {
  const line = words.replace(/\s+/g, ' ').trim();
  return /[.!?…]$/.test(line) ? line : `${line}.`;
}
