import * as vscode from 'vscode';
import { unlessAborted } from '../../base/async.ts';
import { defined, isObject } from '../../base/json.ts';
import { SENT_TYPES } from '../../media/imageLimits.ts';
import { fileOfBytes } from '../../model/providers/madeFiles.ts';
import { fitImages } from '../../model/request/fitImages.ts';
import type { Failure, FailureKind } from '../../ports/failures.ts';
import type { ChatModel, ModelEvent, ModelFailure, ModelRequest, ModelTool } from '../../ports/models.ts';
import {
  type EditorContent,
  type EditorMessage,
  type EditorPart,
  editorMessages,
  previewMessages,
  textOf,
} from './editorMessages.ts';

/** Counting tokens must not delay a finished reply. */
const COUNT_TIMEOUT_MS = 2_000;
const JUSTIFICATION = vscode.l10n.t('Used to reply in the chat that you run.');

/** One of VS Code's own language models, such as Copilot's. */
export class EditorModel implements ChatModel {
  readonly provider = 'vscode';
  readonly name: string;
  readonly #model: vscode.LanguageModelChat;
  readonly #imagePart = findImagePart();

  constructor(model: vscode.LanguageModelChat, name = `vscode/${model.id}`) {
    this.#model = model;
    this.name = name;
  }

  accepts(mimeType: string): boolean {
    return this.#imagePart !== undefined && SENT_TYPES.has(mimeType);
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncGenerator<ModelEvent> {
    const source = new vscode.CancellationTokenSource();
    const { token } = source;
    const cancel = () => source.cancel();
    signal.addEventListener('abort', cancel, { once: true });
    if (signal.aborted) cancel();
    try {
      const fitted = await unlessAborted(fitImages(request, this.provider, signal), signal);
      const messages = this.#messages(fitted);
      const rendering = Promise.all(messages.map((each) => this.#render(each, signal)));
      const sent = await unlessAborted(rendering, signal);
      const input = this.#count(textOf(messages), token);
      const sending = this.#model.sendRequest(sent, requestOptions(request), token);
      const response = await unlessAborted(Promise.resolve(sending), signal);
      const output: string[] = [];
      let calls = 0;
      for await (const part of partsUnlessAborted(response.stream, signal)) {
        const event = readPart(part);
        if (event?.kind === 'text') output.push(event.text);
        if (event?.kind === 'call') output.push(event.argumentsText);
        if (event?.kind === 'call') calls += 1;
        if (event) yield event;
      }
      const counted = output.length === 0 ? undefined : this.#count(output.join(''), token);
      const usage = { input: await input, output: await counted };
      yield { kind: 'finish', reason: calls > 0 ? 'calls' : 'stop', usage };
    } catch (error) {
      if (signal.aborted) throw new EditorModelFailure(`The request to ${this.name} was stopped.`);
      throw editorFailure(error, this.name);
    } finally {
      signal.removeEventListener('abort', cancel);
      // Also cancels a request whose stream is abandoned early.
      cancel();
      source.dispose();
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

  /** An estimate by the model's own tokenizer, without images. Undefined if it fails; never rejects. */
  async #count(text: string, token: vscode.CancellationToken): Promise<number | undefined> {
    try {
      const counting = Promise.resolve(this.#model.countTokens(text, token));
      return await unlessAborted(counting, AbortSignal.timeout(COUNT_TIMEOUT_MS));
    } catch {
      return undefined;
    }
  }
}

/** Without a sign-in there may be none. */
export async function listEditorModels(): Promise<readonly vscode.LanguageModelChat[]> {
  return vscode.lm.selectChatModels();
}

/** Finds the model of `vscode/NAME` by its id, by `vendor/id`, or as the first of a family. */
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

/** The shortest name that `findEditorModel` resolves to the model. */
export function editorModelName(
  model: vscode.LanguageModelChat,
  among: readonly vscode.LanguageModelChat[],
): string {
  const found = findEditorModel(among, model.id);
  const isFirst = found === undefined || found.vendor === model.vendor;
  return `vscode/${isFirst ? model.id : `${model.vendor}/${model.id}`}`;
}

/** Parts outside the stable API are ignored. */
function readPart(part: unknown): Extract<ModelEvent, { kind: 'text' | 'call' | 'file' }> | undefined {
  if (part instanceof vscode.LanguageModelTextPart) {
    return part.value === '' ? undefined : { kind: 'text', text: part.value };
  }
  if (isDataPart(part)) return fileEvent(part);
  if (!(part instanceof vscode.LanguageModelToolCallPart)) return undefined;
  const { callId, name, input } = part;
  return { kind: 'call', key: callId, name, argumentsText: JSON.stringify(input ?? {}) };
}

interface DataPart {
  readonly mimeType: string;
  readonly data: Uint8Array;
}

function isDataPart(part: unknown): part is DataPart {
  return isObject(part) && typeof part['mimeType'] === 'string' && part['data'] instanceof Uint8Array;
}

/** Copilot also sends data of its own, such as `usage` and `stateful_marker`, whose types are not MIME types. */
function fileEvent({ mimeType, data }: DataPart): Extract<ModelEvent, { kind: 'file' }> | undefined {
  if (!mimeType.includes('/')) return undefined;
  return { kind: 'file', file: fileOfBytes(data, mimeType) };
}

/** The option names are those of Copilot's models; other models ignore them. */
function requestOptions({ tools, maxTokens, temperature }: ModelRequest) {
  const modelOptions = defined({ max_tokens: maxTokens, temperature });
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

/** `LanguageModelDataPart` is stable since VS Code 1.106, and the types here are of 1.105. */
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

/** Does not wait for providers that ignore the cancellation. */
async function* partsUnlessAborted<T>(parts: AsyncIterable<T>, signal: AbortSignal): AsyncGenerator<T> {
  const iterator = parts[Symbol.asyncIterator]();
  for (;;) {
    const next = await unlessAborted(iterator.next(), signal);
    if (next.done) return;
    yield next.value;
  }
}

/** Not retryable: most providers count every request, so the user decides. */
class EditorModelFailure extends Error implements ModelFailure {
  readonly kind = 'modelFailure';
  readonly retryable = false;
  override readonly name = 'EditorModelFailure';
  readonly failure: Failure | undefined;

  constructor(message: string, options: ErrorOptions & { readonly kind?: FailureKind | undefined } = {}) {
    super(message, options);
    this.failure = options.kind && { kind: options.kind, reason: message };
  }
}

function editorFailure(error: unknown, model: string): ModelFailure {
  if (error instanceof EditorModelFailure) return error;
  const reason = sentence(reasonOf(error));
  const code = error instanceof vscode.LanguageModelError ? error.code : '';
  const message = EXPLANATIONS[code]?.(model, reason) ?? `VS Code’s model ${model} failed: ${reason}`;
  return new EditorModelFailure(message, { cause: error, kind: KINDS[code] ?? 'failed' });
}

const KINDS: Readonly<Record<string, FailureKind>> = {
  [vscode.LanguageModelError.NoPermissions.name]: 'access',
  [vscode.LanguageModelError.Blocked.name]: 'refused',
  [vscode.LanguageModelError.NotFound.name]: 'model',
};

const EXPLANATIONS: Readonly<Record<string, (model: string, reason: string) => string>> = {
  [vscode.LanguageModelError.NoPermissions.name]: (model) =>
    `Filechat is not allowed to use VS Code’s model ${model}. Run the chat again and choose Allow, or allow it with “Manage Language Model Access” in the Accounts menu.`,
  [vscode.LanguageModelError.Blocked.name]: (model, reason) =>
    `VS Code blocked the request to ${model}: ${reason} If a quota is used up, wait, or choose another model with “Filechat: Select Model”.`,
  [vscode.LanguageModelError.NotFound.name]: (model) =>
    `VS Code no longer offers the model ${model}. Choose another one with “Filechat: Select Model”.`,
};

/** Unspecified errors have the real error as their cause. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error);
  const cause = error.cause instanceof Error ? error.cause.message : '';
  return error.message || cause || 'it gave no reason';
}

function sentence(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  return /[.!?…]$/.test(line) ? line : `${line}.`;
}
