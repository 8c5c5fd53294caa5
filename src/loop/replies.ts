import { randomInt } from 'node:crypto';
import { messageOf } from '../base/errors.ts';
import { newCallId } from '../chat/edits/append.ts';
import { readToolName } from '../chat/format/calls.ts';
import { partialReply } from '../chat/reply/place.ts';
import { ReplyRenderer } from '../chat/reply/render.ts';
import { RepeatFilter } from '../chat/reply/repeatFilter.ts';
import {
  type Attempts,
  countAttempt,
  NO_ATTEMPTS,
  nextTry,
  waitWithCountdown,
} from '../model/providers/retry.ts';
import { toolOfName } from '../model/request/tools.ts';
import type { Log, RunOutcome } from '../ports/document.ts';
import type {
  ChatModel,
  Conversation,
  ModelEvent,
  ModelFailure,
  ModelRequest,
  PreparedRequest,
  Usage,
} from '../ports/models.ts';
import type { ToolName } from '../ports/tools.ts';

import { type ChatEdits, failed, STOPPED } from './chatEdits.ts';
import { ReplyWriter } from './replyWriter.ts';

export interface ReplyParts {
  readonly conversation: Conversation;
  readonly log: Log;
  readonly onReply?: ((progress: ReplyProgress) => void) | undefined;
  readonly onUsage?: ((model: ChatModel, usage: Usage, request: ModelRequest) => void) | undefined;
  readonly rescue?: ((markdown: string) => void) | undefined;
  readonly batchMs?: number | undefined;
}

/** What can be told while a reply is on its way. */
export type ReplyProgress =
  | { readonly kind: 'asking'; readonly model: string; readonly notes: readonly string[] }
  | { readonly kind: 'writing'; readonly chars: number }
  | { readonly kind: 'calling'; readonly name: string; readonly chars: number }
  | { readonly kind: 'waiting'; readonly ms: number; readonly reason: string };

/** Asks the model and writes its reply into the document; what breaks off goes on in the same place. */
export class Replies {
  readonly #parts: ReplyParts;
  readonly #document: ChatEdits;

  constructor(parts: ReplyParts, document: ChatEdits) {
    this.#parts = parts;
    this.#document = document;
  }

  /** Writes a new reply, or goes on with the one that was cut. */
  async write(kind: 'reply' | 'resume', signal: AbortSignal): Promise<RunOutcome> {
    const stop = new AbortController();
    const writer = new ReplyWriter({
      document: this.#document,
      id: newId(),
      resumes: kind === 'resume',
      onGone: () => stop.abort(),
      batchMs: this.#parts.batchMs,
    });
    const undone = this.#document.onUndo(() => {
      writer.abandon();
      stop.abort();
    });
    try {
      const reply = new Reply(writer, this.#document);
      const ending = await this.#try(reply, AbortSignal.any([signal, stop.signal]));
      return await this.#end(reply, ending);
    } finally {
      undone.dispose();
    }
  }

  async #try(reply: Reply, signal: AbortSignal): Promise<Ending> {
    let attempts = NO_ATTEMPTS;
    for (;;) {
      const before = reply.size;
      try {
        return await this.#stream(reply, signal);
      } catch (error) {
        if (signal.aborted) return { kind: 'stopped' };
        if (!isModelFailure(error)) return { kind: 'failed', error: messageOf(error), reason: 'failed' };
        // Calls that came whole are good calls, whatever happened to the connection behind them.
        if (reply.hasCalls) return { kind: 'whole', reason: 'calls' };
        const { received, chars } = reply.size;
        attempts = countAttempt(attempts, {
          begun: error.begun === true || received > before.received,
          progress: chars > before.chars,
        });
        if (error.retryable) await reply.breakOff();
        const gaveUp = await waitForNextTry(this.#parts, error, { attempts, signal });
        if (signal.aborted) return { kind: 'stopped' };
        if (gaveUp !== undefined) {
          return { kind: 'failed', error: gaveUp, reason: error.retryable ? 'connection lost' : 'failed' };
        }
      }
    }
  }

  async #stream(reply: Reply, signal: AbortSignal): Promise<Ending> {
    const { conversation, onReply, onUsage } = this.#parts;
    const prepared = await conversation.prepare(reply.writer.sentText(), signal);
    const { model, request, notes } = prepared;
    onReply?.({ kind: 'asking', model: model.name, notes });
    reply.begin(prepared);
    for await (const event of model.stream(request, signal)) {
      if (event.kind === 'finish') {
        onUsage?.(model, event.usage, request);
        return { kind: 'whole', reason: event.reason };
      }
      reply.add(event);
      onReply?.(reply.progress(event));
    }
    // A stop may look to a model like the end.
    return signal.aborted
      ? { kind: 'stopped' }
      : { kind: 'failed', error: NO_END, reason: 'connection lost' };
  }

  async #end(reply: Reply, ending: Ending): Promise<RunOutcome> {
    const { writer } = reply;
    const interrupted = interruption(ending);
    await reply.end(interrupted);
    if (writer.isGone) {
      if (writer.everything !== '') this.#parts.rescue?.(writer.everything);
      return { ...failed(GONE), lost: true };
    }
    const resumable = writer.isOpen && interrupted !== undefined;
    if (ending.kind === 'stopped') return { ...STOPPED, ...(resumable ? { resumable } : {}) };
    if (ending.kind === 'failed') return { ...failed(ending.error), ...(resumable ? { resumable } : {}) };
    if (ending.reason === 'length') return { ...failed(TOO_LONG), resumable: true };
    if (ending.reason === 'refused') return failed(REFUSED);
    return writer.isOpen ? { ok: true, assets: [] } : failed(NOTHING);
  }
}

type Ending =
  | { readonly kind: 'whole'; readonly reason: Extract<ModelEvent, { kind: 'finish' }>['reason'] }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly error: string; readonly reason: string };

const NO_END = 'The response ended unexpectedly.';
const GONE =
  'The place of the reply is gone from the chat, so the model was stopped. What it had said is kept in a copy.';
const TOO_LONG = 'The reply reached the limit of tokens.';
const REFUSED = 'The provider’s filter ended the reply.';
const NOTHING = 'The model sent an empty reply.';

/** Waits as long as it makes sense. Resolves to what to tell the user when there should be no other try. */
export async function waitForNextTry(
  { onReply, log }: Pick<ReplyParts, 'onReply' | 'log'>,
  failure: ModelFailure,
  { attempts, signal }: { readonly attempts: Attempts; readonly signal: AbortSignal },
): Promise<string | undefined> {
  const { message } = failure;
  const next = nextTry(failure, attempts, Math.random);
  if (next.kind === 'giveUp') return next.reason === undefined ? message : `${message} ${next.reason}`;
  log.warn(`${message} Trying again in ${Math.round(next.ms / 1000)} s.`);
  const onTick = (ms: number) => onReply?.({ kind: 'waiting', ms, reason: message });
  await waitWithCountdown(next.ms, { signal, onTick });
  return undefined;
}

function interruption(ending: Ending): string | undefined {
  if (ending.kind === 'stopped') return 'stopped';
  if (ending.kind === 'failed') return ending.reason;
  return ending.reason === 'length' ? 'token limit' : undefined;
}

/** One reply on its way from the model's events to the document's text. */
class Reply {
  readonly writer: ReplyWriter;
  readonly #document: ChatEdits;
  #renderer: ReplyRenderer | undefined;
  #repeat: RepeatFilter | undefined;
  /** Makes the two above for the try that has begun. */
  #beginning: (() => void) | undefined;
  #lastId = '';
  hasCalls = false;
  /** Events that have come from the model. */
  #received = 0;
  /** Characters of them that are not a repetition. */
  #chars = 0;

  constructor(writer: ReplyWriter, document: ChatEdits) {
    this.writer = writer;
    this.#document = document;
  }

  get size(): { readonly received: number; readonly chars: number } {
    return { received: this.#received, chars: this.#chars };
  }

  /** Begins, or goes on behind what is there already. */
  begin({ request }: PreparedRequest): void {
    const partial = partialReply(this.writer.sentText());
    this.#beginning = () => {
      this.#repeat = partial && new RepeatFilter(partial.text);
      this.#renderer = new ReplyRenderer((name) => this.#nameCall(name, request), partial);
    };
  }

  /** Only now does the try before it end: had this one brought nothing, what that one left undecided would count. */
  #takeOver(): void {
    this.#beginning?.();
    this.#beginning = undefined;
  }

  add(event: ModelEvent): void {
    this.#takeOver();
    if (event.kind === 'call') this.hasCalls = true;
    this.#received += 1;
    if (event.kind === 'text' && this.#repeat) {
      this.#push({ kind: 'text', text: this.#repeat.push(event.text) });
      return;
    }
    // What was held back comes before what follows it.
    if (event.kind !== 'callInput' && event.kind !== 'metadata') this.#endRepeat();
    this.#push(event);
  }

  progress(event: ModelEvent): ReplyProgress {
    return event.kind === 'callInput'
      ? { kind: 'calling', name: event.name, chars: event.text.length }
      : { kind: 'writing', chars: this.#chars };
  }

  /** What is not yet decided about the last words is not written: the model is asked to go on from what is. */
  async breakOff(): Promise<void> {
    await this.writer.isolateCursor();
  }

  async end(interrupted: string | undefined): Promise<void> {
    if (interrupted === undefined) {
      this.#takeOver();
      this.#endRepeat();
      this.writer.add(this.#renderer?.end() ?? '');
      return this.writer.end({});
    }
    this.#endRepeat(false);
    const cut = this.#renderer?.interrupt();
    this.writer.add(cut?.addition ?? '');
    return this.writer.end({ interrupted, closeFence: cut?.closeFence });
  }

  #endRepeat(isWhole = true): void {
    const held = this.#repeat?.end(isWhole) ?? '';
    this.#repeat = undefined;
    this.#push({ kind: 'text', text: held });
  }

  #push(event: ModelEvent): void {
    if (event.kind === 'text' && event.text === '') return;
    if (event.kind === 'text' || event.kind === 'reasoning') this.#chars += event.text.length;
    this.writer.add(this.#renderer?.push(event) ?? '');
  }

  /** A tool that the model made up gets a name too: the call fails, and the model learns why. */
  #nameCall(name: string, { tools }: ModelRequest): ToolName & { readonly id: string } {
    const known = toolOfName(tools, name);
    const tool = known ??
      readToolName(name.replace('__', '.')) ?? { server: 'unknown', tool: name || 'unnamed' };
    this.#lastId = newCallId(this.#document.text(), this.#lastId);
    return { server: tool.server, tool: tool.tool, id: this.#lastId };
  }
}

const ID_LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';

function newId(): string {
  return Array.from({ length: 6 }, () => ID_LETTERS[randomInt(ID_LETTERS.length)]).join('');
}

export function isModelFailure(error: unknown): error is ModelFailure {
  return error instanceof Error && 'kind' in error && error.kind === 'modelFailure';
}
