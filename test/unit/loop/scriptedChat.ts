/** Fakes of the ports: a document in memory, and a model with scripted replies. */

import { ChatListener, type ListenerDeps } from '../../../src/listener.ts';
import { ChatConversation } from '../../../src/model/request/conversation.ts';
import type { ChatDocument, DocumentChange, TextEdit } from '../../../src/ports/document.ts';
import type { ChatModel, ModelEvent, ModelFailure, ModelRequest, Usage } from '../../../src/ports/models.ts';
import type { ToolResult } from '../../../src/ports/results.ts';
import type { AboutCall, ConsentAnswer, ToolCall, ToolHost, ToolInfo } from '../../../src/ports/tools.ts';

export class MemoryDocument implements ChatDocument {
  #text: string;
  #refuses: 'no' | 'says so' | 'throws' = 'no';
  edits = 0;
  /** The last saved text. */
  saved = '';
  refusesToSave = false;
  readonly #listeners = new Set<(change: DocumentChange) => void>();

  constructor(text: string) {
    this.#text = text;
  }

  text(): string {
    return this.#text;
  }

  async edit(compute: (text: string) => TextEdit | undefined): Promise<boolean> {
    if (this.#refuses === 'throws') throw new Error('The document is gone.');
    const edit = compute(this.#text);
    if (!edit || this.#refuses === 'says so') return false;
    this.edits += 1;
    // Like an editor: edits get the line endings of the document.
    const added = this.#text.includes('\r\n') ? edit.text.replaceAll('\n', '\r\n') : edit.text;
    this.#change(this.#text.slice(0, edit.start) + added + this.#text.slice(edit.end), false);
    return true;
  }

  async save(): Promise<boolean> {
    this.saved = this.#text;
    return !this.refusesToSave;
  }

  /** An edit by the user. */
  type(change: (text: string) => string): void {
    this.#change(change(this.#text), false);
  }

  undo(change: (text: string) => string): void {
    this.#change(change(this.#text), true);
  }

  refuse(how: 'says so' | 'throws'): void {
    this.#refuses = how;
  }

  onDidChange(listener: (change: DocumentChange) => void) {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }

  /** Resolves when the document contains the text. */
  holds(words: string): Promise<void> {
    return new Promise((resolve) => {
      const look = () => {
        if (!this.#text.includes(words)) return;
        this.#listeners.delete(look);
        resolve();
      };
      this.#listeners.add(look);
      look();
    });
  }

  #change(text: string, undo: boolean): void {
    this.#text = text;
    for (const listener of [...this.#listeners]) listener({ undo });
  }
}

export interface Asked {
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
  readonly document: MemoryDocument;
}

/** The events of one response. */
export type Answer = (asked: Asked) => AsyncIterable<ModelEvent> | Iterable<ModelEvent>;

export const text = (words: string): ModelEvent => ({ kind: 'text', text: words });
export const finish = (reason: Extract<ModelEvent, { kind: 'finish' }>['reason'] = 'stop'): ModelEvent => ({
  kind: 'finish',
  reason,
  usage: { input: 1, output: 1 },
});
export const call = (name: string, argumentsText = '{}', key = name): ModelEvent => ({
  kind: 'call',
  key,
  name,
  argumentsText,
});

/** A complete reply of text. */
export const says =
  (...words: readonly string[]): Answer =>
  () => [...words.map(text), finish()];

/** A complete reply of calls. */
export const makes =
  (...calls: readonly ModelEvent[]): Answer =>
  () => [...calls, finish('calls')];

export function failure(
  more: Partial<Pick<ModelFailure, 'retryable' | 'retryAfterMs' | 'status' | 'failure'>> = {},
  message = 'The model is overloaded.',
): ModelFailure {
  const error = new Error(message);
  return Object.assign(error, { kind: 'modelFailure' as const, retryable: true, retryAfterMs: 1, ...more });
}

/** Text, then a lost connection. */
export const breaksOff = (words: readonly string[], error: ModelFailure = failure()): Answer =>
  async function* ({ document }) {
    for (const each of words) yield text(each);
    if (words.length > 0) await document.holds(words.join('').trimEnd());
    throw error;
  };

/** Text, then an open connection until it is stopped. */
export const hangsAfter = (words: string): Answer =>
  async function* ({ signal }) {
    yield text(words);
    await hang(signal);
  };

/** Text, then a change of the document once it contains the text, then the other events. */
export const meanwhile = (
  words: string,
  act: (document: MemoryDocument) => void,
  more: (asked: Asked) => Iterable<ModelEvent> | AsyncIterable<ModelEvent> = () => [finish()],
): Answer =>
  async function* (asked) {
    yield text(words);
    await asked.document.holds(words);
    act(asked.document);
    yield* more(asked);
  };

/** Hangs like an open connection until it is stopped. */
export function hang(signal: AbortSignal): Promise<never> {
  return new Promise((_, reject) => {
    const give = () => reject(failure({ retryable: false }, 'Aborted.'));
    if (signal.aborted) give();
    else signal.addEventListener('abort', give, { once: true });
  });
}

export class ScriptedModel implements ChatModel {
  readonly name = 'script';
  readonly provider = 'test';
  readonly asked: Asked[] = [];
  readonly #answers: Answer[];
  readonly #document: MemoryDocument;

  constructor(document: MemoryDocument, answers: readonly Answer[]) {
    this.#document = document;
    this.#answers = [...answers];
  }

  accepts(): boolean {
    return false;
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    const asked = { request, signal, document: this.#document };
    this.asked.push(asked);
    const answer = this.#answers.shift();
    if (!answer) throw failure({ retryable: false }, 'The script has no more answers.');
    yield* answer(asked);
  }

  async preview(): Promise<string> {
    return '';
  }
}

const tool = (name: string, readOnly: boolean): ToolInfo => ({
  server: 'a',
  tool: name,
  inputSchema: { type: 'object' },
  readOnly,
});
const TOOLS = [tool('read', true), tool('look', true), tool('write', false), tool('fail', false)];

export const result = (words: string): ToolResult => ({
  isError: false,
  parts: [{ kind: 'text', text: words }],
});

export interface SceneOptions
  extends Partial<Pick<ListenerDeps, 'assets'>>,
    Pick<
      ListenerDeps,
      'mayContinue' | 'onReply' | 'beforeReply' | 'files' | 'audit' | 'isSwitchedOff' | 'chat' | 'retryTimer'
    > {
  readonly consent?: (call: ToolCall, about: AboutCall) => ConsentAnswer | Promise<ConsentAnswer>;
  /** Whether all calls of a turn are asked about at once. */
  readonly asksTogether?: boolean;
  /** By default a tool returns its arguments. The tool `fail` always fails. */
  readonly callTool?: (
    call: ToolCall,
    signal: AbortSignal | undefined,
    chat: string | undefined,
  ) => Promise<ToolResult | undefined>;
  readonly toolInfo?: Partial<ToolInfo>;
  readonly maxSteps?: number;
  readonly reviewResults?: boolean;
  /** Used instead of the script. */
  readonly model?: ChatModel;
}

export function scene(
  text: string,
  answers: readonly Answer[],
  {
    consent,
    asksTogether = false,
    callTool,
    toolInfo,
    maxSteps,
    reviewResults,
    model: other,
    ...deps
  }: SceneOptions = {},
) {
  const document = new MemoryDocument(text);
  const model = new ScriptedModel(document, answers);
  const called: ToolCall[] = [];
  const rescued: string[] = [];
  const usages: Usage[] = [];
  const abouts: AboutCall[] = [];
  const tools: ToolHost = {
    listTools: async (server) => ({
      tools: TOOLS.filter((each) => server === undefined || each.server === server).map((each) => ({
        ...each,
        ...toolInfo,
      })),
      failures: server === 'down' ? [{ server, reason: 'Server down did not start.' }] : [],
    }),
    callTool: async (made, { signal, chat }) => {
      called.push(made);
      if (made.tool === 'fail') throw new Error('It failed: no paper.');
      return (await callTool?.(made, signal, chat)) ?? result(JSON.stringify(made.arguments));
    },
  };
  const notHere = () => Promise.reject(new Error('nothing is saved here'));
  const listener = new ChatListener({
    document,
    tools,
    assets: { beginResult: () => ({ spillFolder: notHere, save: notHere }) },
    consent: {
      asksTogether,
      mayCall: async (made, _tool, about = {}) => {
        abouts.push(about);
        return consent?.(made, about) ?? { kind: 'allow' };
      },
    },
    conversation: new ChatConversation({
      findModel: async () => other ?? model,
      tools,
      attachments: { find: notHere },
      readAgent: async () => undefined,
      servers: async () => TOOLS.map(({ server }) => server),
      ...(maxSteps && { maxSteps: () => maxSteps }),
    }),
    log: { info() {}, warn() {}, error() {} },
    rescue: (markdown) => rescued.push(markdown),
    onUsage: (_model, usage) => usages.push(usage),
    batchMs: 0,
    reviewResults: () => reviewResults === true,
    ...deps,
  });
  return { document, model, listener, called, rescued, usages, abouts };
}

/** Runs or resumes a chat to its end. */
export async function play(
  chat: string,
  answers: readonly Answer[],
  { how = 'run', ...options }: SceneOptions & { readonly how?: 'run' | 'resume' } = {},
) {
  const stage = scene(chat, answers, options);
  const outcome = await stage.listener[how]();
  return { ...stage, outcome, after: stage.document.text() };
}

export const HI = '# %% user\nHi\n';
