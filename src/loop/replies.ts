import { randomInt } from 'node:crypto';
import { messageOf } from '../base/errors.ts';
import { newCallId } from '../chat/edits/append.ts';
import { readToolName } from '../chat/format/calls.ts';
import { partialReply } from '../chat/reply/place.ts';
import { ReplyRenderer } from '../chat/reply/render.ts';
import { RepeatFilter } from '../chat/reply/repeatFilter.ts';
import { countAttempt, isModelFailure, NO_ATTEMPTS, waitForRetry } from '../model/providers/retry.ts';
import { toolOfName } from '../model/request/tools.ts';
import type { ChatDocument, RunOutcome } from '../ports/document.ts';
import type {
  ChatModel,
  Conversation,
  FinishReason,
  ModelEvent,
  ModelRequest,
  PreparedRequest,
  Usage,
} from '../ports/models.ts';
import type { ToolName } from '../ports/tools.ts';
import type { ToolCallDeps } from './calls.ts';
import { failed, STOPPED } from './document.ts';
import { ReplyWriter } from './replyWriter.ts';

export interface ReplyDeps extends Pick<ToolCallDeps, 'document' | 'log' | 'rescue'> {
  readonly conversation: Conversation;
  readonly onReply?: ((progress: ReplyProgress) => void) | undefined;
  readonly onUsage?: ((model: ChatModel, usage: Usage, request: ModelRequest) => void) | undefined;
  readonly batchMs?: number | undefined;
}

export type ReplyProgress =
  | { readonly kind: 'asking'; readonly model: string; readonly notes: readonly string[] }
  | { readonly kind: 'writing'; readonly chars: number }
  | { readonly kind: 'calling'; readonly name: string; readonly chars: number }
  | { readonly kind: 'waiting'; readonly ms: number; readonly reason: string };

/** Writes a new reply, or continues an interrupted one. A reply that breaks off is retried in the same place. */
export async function writeReply(
  deps: ReplyDeps,
  kind: 'reply' | 'resume',
  signal: AbortSignal,
): Promise<RunOutcome> {
  const { document, batchMs } = deps;
  const stop = new AbortController();
  const onLost = () => stop.abort();
  const writer = new ReplyWriter({ document, id: newId(), resumes: kind === 'resume', onLost, batchMs });
  const subscription = document.onDidChange(({ undo }) => {
    if (!undo) return;
    writer.abandon();
    stop.abort();
  });
  try {
    const reply = new Reply(writer, document);
    const ending = await requestReply(deps, reply, AbortSignal.any([signal, stop.signal]));
    return await endReply(deps, reply, ending);
  } finally {
    subscription.dispose();
  }
}

type Ending =
  | { readonly kind: 'finished'; readonly reason: FinishReason }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly error: string; readonly reason: string };

async function requestReply(deps: ReplyDeps, reply: Reply, signal: AbortSignal): Promise<Ending> {
  const { log, onReply } = deps;
  let attempts = NO_ATTEMPTS;
  for (;;) {
    const { received, chars } = reply;
    try {
      return await streamReply(deps, reply, signal);
    } catch (error) {
      if (signal.aborted) return { kind: 'stopped' };
      if (!isModelFailure(error)) return { kind: 'failed', error: messageOf(error), reason: 'failed' };
      // Complete calls are valid even if the connection broke after them.
      if (reply.hasCalls) return { kind: 'finished', reason: 'calls' };
      const begun = error.begun === true || reply.received > received;
      attempts = countAttempt(attempts, { begun, progress: reply.chars > chars });
      // Text that the renderer still holds back is not written: the next attempt continues from what is.
      if (error.retryable) await reply.writer.isolateCursor();
      const gaveUp = await waitForRetry(error, attempts, {
        signal,
        log,
        onTick: (ms, { message }) => onReply?.({ kind: 'waiting', ms, reason: message }),
      });
      if (signal.aborted) return { kind: 'stopped' };
      if (gaveUp !== undefined) {
        return { kind: 'failed', error: gaveUp, reason: error.retryable ? 'connection lost' : 'failed' };
      }
    }
  }
}

async function streamReply(
  { conversation, onReply, onUsage }: ReplyDeps,
  reply: Reply,
  signal: AbortSignal,
): Promise<Ending> {
  const prepared = await conversation.prepare(reply.writer.sentText(), signal);
  const { model, request, notes } = prepared;
  onReply?.({ kind: 'asking', model: model.name, notes });
  reply.begin(prepared);
  for await (const event of model.stream(request, signal)) {
    if (event.kind === 'finish') {
      onUsage?.(model, event.usage, request);
      return { kind: 'finished', reason: event.reason };
    }
    reply.add(event);
    onReply?.(reply.progress(event));
  }
  // Some models end their stream when it is aborted.
  if (signal.aborted) return { kind: 'stopped' };
  return { kind: 'failed', error: 'The response ended unexpectedly.', reason: 'connection lost' };
}

async function endReply({ rescue }: ReplyDeps, reply: Reply, ending: Ending): Promise<RunOutcome> {
  const { writer } = reply;
  const interrupted = interruption(ending);
  await reply.end(interrupted);
  if (writer.isLost) {
    if (writer.added !== '') rescue?.(writer.added);
    return { ...failed(LOST), lost: true };
  }
  const resumable = writer.isOpen && interrupted !== undefined ? { resumable: true } : {};
  if (ending.kind === 'stopped') return { ...STOPPED, ...resumable };
  if (ending.kind === 'failed') return { ...failed(ending.error), ...resumable };
  if (ending.reason === 'length') return { ...failed(TOO_LONG), resumable: true };
  if (ending.reason === 'refused') return failed(REFUSED);
  return writer.isOpen ? { ok: true, assets: [] } : failed('The model sent an empty reply.');
}

const LOST =
  'The reply could not be written to the chat, so the model was stopped. A copy of the reply was saved.';
const TOO_LONG = 'The reply reached the token limit.';
const REFUSED = 'The provider’s content filter stopped the reply.';

function interruption(ending: Ending): string | undefined {
  if (ending.kind === 'stopped') return 'stopped';
  if (ending.kind === 'failed') return ending.reason;
  return ending.reason === 'length' ? 'token limit' : undefined;
}

/** One reply on its way from the model's events to the document's text. */
class Reply {
  readonly writer: ReplyWriter;
  readonly #document: ChatDocument;
  #renderer: ReplyRenderer | undefined;
  #repeat: RepeatFilter | undefined;
  /** Replaces the two above for the attempt that has begun. */
  #startAttempt: (() => void) | undefined;
  #lastId = '';
  hasCalls = false;
  /** Events received from the model. */
  received = 0;
  /** Characters received, without those that a resumed reply repeats. */
  chars = 0;

  constructor(writer: ReplyWriter, document: ChatDocument) {
    this.writer = writer;
    this.#document = document;
  }

  /** Begins an attempt, which continues the text that is already written. */
  begin({ request }: PreparedRequest): void {
    const partial = partialReply(this.writer.sentText());
    // Runs on the first event: until then, text that the previous attempt holds back may still be needed.
    this.#startAttempt = () => {
      this.#repeat = partial && new RepeatFilter(partial.text);
      this.#renderer = new ReplyRenderer((name) => this.#nameCall(name, request), partial);
      this.#startAttempt = undefined;
    };
  }

  add(event: ModelEvent): void {
    this.#startAttempt?.();
    if (event.kind === 'call') this.hasCalls = true;
    this.received += 1;
    if (event.kind === 'text' && this.#repeat) {
      this.#push({ kind: 'text', text: this.#repeat.push(event.text) });
      return;
    }
    // Text that was held back comes before the event that follows it.
    if (event.kind !== 'callInput' && event.kind !== 'metadata') this.#endRepeat();
    this.#push(event);
  }

  progress(event: ModelEvent): ReplyProgress {
    return event.kind === 'callInput'
      ? { kind: 'calling', name: event.name, chars: event.text.length }
      : { kind: 'writing', chars: this.chars };
  }

  async end(interrupted: string | undefined): Promise<void> {
    if (interrupted === undefined) {
      this.#startAttempt?.();
      this.#endRepeat();
      this.writer.add(this.#renderer?.end() ?? '');
      return this.writer.end({ kind: 'whole' });
    }
    this.#endRepeat(false);
    const { addition = '', closeFence } = this.#renderer?.interrupt() ?? {};
    this.writer.add(addition);
    const fence = closeFence ? { closeFence } : {};
    return this.writer.end({ kind: 'interrupted', reason: interrupted, ...fence });
  }

  #endRepeat(isWhole = true): void {
    const held = this.#repeat?.end(isWhole) ?? '';
    this.#repeat = undefined;
    this.#push({ kind: 'text', text: held });
  }

  #push(event: ModelEvent): void {
    if (event.kind === 'text' && event.text === '') return;
    if (event.kind === 'text' || event.kind === 'reasoning') this.chars += event.text.length;
    this.writer.add(this.#renderer?.push(event) ?? '');
  }

  /** An unknown tool gets a name too: the call fails, and the model learns why. */
  #nameCall(name: string, { tools }: ModelRequest): ToolName & { readonly id: string } {
    const known = toolOfName(tools, name);
    const { server, tool } = known ??
      readToolName(name.replace('__', '.')) ?? { server: 'unknown', tool: name || 'unnamed' };
    this.#lastId = newCallId(this.#document.text(), this.#lastId);
    return { server, tool, id: this.#lastId };
  }
}

const ID_LETTERS = 'abcdefghijkmnpqrstuvwxyz23456789';

function newId(): string {
  return Array.from({ length: 6 }, () => ID_LETTERS[randomInt(ID_LETTERS.length)]).join('');
}
