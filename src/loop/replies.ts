import { TimeSlice } from '../base/async.ts';
import { messageOf } from '../base/errors.ts';
import { newCallId } from '../chat/edits/append.ts';
import { readToolName } from '../chat/format/calls.ts';
import { HeldReasoning } from '../chat/reply/heldReasoning.ts';
import { InlineReasoning, type ReadEvent } from '../chat/reply/inlineReasoning.ts';
import { type PartialReply, partialReply, withoutProblems } from '../chat/reply/place.ts';
import { ReplyRenderer, type WrittenEvent } from '../chat/reply/render.ts';
import { RepeatFilter } from '../chat/reply/repeatFilter.ts';
import { RunError } from '../model/failures.ts';
import {
  countAttempt,
  isModelFailure,
  NO_ATTEMPTS,
  type RetryOptions,
  waitForRetry,
} from '../model/providers/retry.ts';
import { toolOfName, UNKNOWN_SERVER } from '../model/request/tools.ts';
import type { ChatDocument, RunOutcome } from '../ports/document.ts';
import type { Failure } from '../ports/failures.ts';
import type {
  ChatModel,
  Conversation,
  FinishReason,
  MadeFileEvent,
  ModelEvent,
  ModelRequest,
  ModelTool,
  PreparedRequest,
  Usage,
} from '../ports/models.ts';
import type { ToolName } from '../ports/tools.ts';
import { renderPart } from '../result/markdown.ts';
import { failed, failedBy, STOPPED } from './document.ts';
import { type MadeFileDeps, MadeFiles } from './madeFiles.ts';
import type { ToolCallDeps } from './permission.ts';
import { repairCall } from './repairCall.ts';
import { newId, ReplyWriter } from './replyWriter.ts';

export interface ReplyDeps extends Pick<ToolCallDeps, 'document' | 'log' | 'rescue'>, MadeFileDeps {
  readonly conversation: Conversation;
  /** Called when the first words have arrived, before they are written. If it fails, the reply is still written. */
  readonly beforeReply?: (() => Promise<void>) | undefined;
  readonly onReply?: ((progress: ReplyProgress) => void) | undefined;
  readonly onUsage?: ((model: ChatModel, usage: Usage, request: ModelRequest) => void) | undefined;
  readonly batchMs?: number | undefined;
  /** Waits before an attempt. */
  readonly retryTimer?: RetryOptions['timer'];
}

export type ReplyProgress =
  | (Pick<PreparedRequest, 'notes' | 'failures' | 'attached'> & {
      readonly kind: 'asking';
      readonly model: string;
    })
  | { readonly kind: 'writing'; readonly chars: number }
  | { readonly kind: 'calling'; readonly name: string; readonly chars: number }
  | {
      readonly kind: 'waiting';
      readonly ms: number;
      readonly reason: string;
      readonly failure?: Failure | undefined;
    };

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
    const reply = new Reply(writer, deps);
    const ending = await requestReply(deps, reply, AbortSignal.any([signal, stop.signal]));
    return { ...(await endReply(deps, reply, ending)), assets: reply.files.paths };
  } finally {
    subscription.dispose();
  }
}

type Ending =
  | { readonly kind: 'finished'; readonly reason: FinishReason }
  | { readonly kind: 'stopped' }
  | { readonly kind: 'failed'; readonly error: unknown; readonly reason: string };

async function requestReply(deps: ReplyDeps, reply: Reply, signal: AbortSignal): Promise<Ending> {
  const { log, onReply, retryTimer: timer } = deps;
  let attempts = NO_ATTEMPTS;
  for (;;) {
    const { received, chars } = reply;
    try {
      return await streamReply(deps, reply, signal);
    } catch (error) {
      if (signal.aborted) return { kind: 'stopped' };
      if (!isModelFailure(error)) return { kind: 'failed', error, reason: 'failed' };
      // Complete calls are valid even if the connection broke after them.
      if (reply.hasCalls) return { kind: 'finished', reason: 'calls' };
      const begun = error.begun === true || reply.received > received;
      attempts = countAttempt(attempts, { begun, progress: reply.chars > chars });
      // Text that the renderer still holds back is not written: the next attempt continues from what is.
      if (error.retryable) await reply.writer.isolateCursor();
      const gaveUp = await waitForRetry(error, attempts, {
        signal,
        log,
        timer,
        onTick: (ms, { message, failure }) => onReply?.({ kind: 'waiting', ms, reason: message, failure }),
      });
      if (signal.aborted) return { kind: 'stopped' };
      if (gaveUp) {
        return { kind: 'failed', error: gaveUp, reason: error.retryable ? 'connection lost' : 'failed' };
      }
    }
  }
}

async function streamReply(
  { conversation, beforeReply, onReply, onUsage, log }: ReplyDeps,
  reply: Reply,
  signal: AbortSignal,
): Promise<Ending> {
  const prepared = await conversation.prepare(reply.writer.sentText(), signal);
  const { model, request, notes, failures, attached } = prepared;
  onReply?.({ kind: 'asking', model: model.name, notes, failures, attached });
  reply.begin(prepared);
  const slice = new TimeSlice();
  for await (const event of model.stream(request, signal)) {
    if (event.kind === 'finish') {
      onUsage?.(model, event.usage, request);
      return { kind: 'finished', reason: event.reason };
    }
    if (reply.received === 0) await beforeReply?.().catch((error: unknown) => log.warn(messageOf(error)));
    await reply.add(event, signal);
    onReply?.(reply.progress(event));
    // Events that have arrived together come without a pause between them.
    if (slice.isOver()) await slice.pause();
  }
  // Some models end their stream when it is aborted.
  if (signal.aborted) return { kind: 'stopped' };
  const error = new RunError({ kind: 'lost', reason: 'The response ended unexpectedly.' });
  return { kind: 'failed', error, reason: 'connection lost' };
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
  if (ending.kind === 'failed') return { ...failedBy(ending.error), ...resumable };
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
  readonly files: MadeFiles;
  readonly #document: ChatDocument;
  #renderer: ReplyRenderer | undefined;
  #createRenderer: (() => ReplyRenderer) | undefined;
  #repeat: RepeatFilter | undefined;
  #inline = new InlineReasoning(true);
  #reasoning = new HeldReasoning(false);
  /** The reply that this attempt continues. */
  #partial: PartialReply | undefined;
  /** What this attempt has added to the document. */
  #written = '';
  /** It is more than reasoning. */
  #hasWords = false;
  /** Replaces the above for the attempt that has begun. */
  #startAttempt: (() => void) | undefined;
  #lastId = '';
  #tools: readonly ModelTool[] = [];
  hasCalls = false;
  /** Events received from the model. */
  received = 0;
  /** Characters received, without those that a resumed reply repeats. */
  chars = 0;

  constructor(writer: ReplyWriter, deps: Pick<ReplyDeps, 'document'> & MadeFileDeps) {
    this.writer = writer;
    this.files = new MadeFiles(deps);
    this.#document = deps.document;
  }

  /** Begins an attempt, which continues the text that is already written. */
  begin({ request, model }: PreparedRequest): void {
    const written = partialReply(this.writer.sentText());
    // Runs on the first event: until then, text that the previous attempt holds back may still be needed.
    this.#startAttempt = () => {
      const partial = this.#takeBack() ? this.#partial : written;
      this.#partial = partial;
      this.#repeat = partial && new RepeatFilter(withoutProblems(partial.text), partial.blocks);
      this.#reasoning = new HeldReasoning(partial !== undefined && partial.tail !== '');
      this.#inline = new InlineReasoning(partial?.isEmpty !== false);
      this.#createRenderer = () => new ReplyRenderer((name) => this.#nameCall(name, request), partial);
      this.#renderer = this.#createRenderer();
      this.#tools = request.tools;
      this.files.begin(model.name, partial?.files ?? []);
      this.#written = '';
      this.#hasWords = false;
      this.#startAttempt = undefined;
    };
  }

  /**
   * Takes back an attempt that has brought only reasoning: the model was not asked to continue it, so it thinks again.
   * Reasoning that the user has changed stays.
   */
  #takeBack(): boolean {
    const isUnchanged = this.writer.sentText().replaceAll('\r\n', '\n').includes(this.#written);
    if (this.#written === '' || this.#hasWords || !isUnchanged) return false;
    this.writer.rewrite(this.#written, '');
    return true;
  }

  async add(event: ModelEvent, signal: AbortSignal): Promise<void> {
    this.#startAttempt?.();
    if (event.kind === 'call') this.hasCalls = true;
    this.received += 1;
    await this.#addRead(this.#inline.read(event), signal);
  }

  async #addRead(events: readonly ReadEvent[], signal?: AbortSignal): Promise<void> {
    for (const event of events) {
      for (const each of this.#reasoning.read(event)) {
        if (each.kind === 'file') await this.#addFile(each, signal);
        else this.#addEvent(each);
      }
    }
  }

  /** The file is on disk before its link is in the document. */
  async #addFile({ file, isDraft, metadata }: MadeFileEvent, signal?: AbortSignal): Promise<void> {
    const part = await this.files.save(file, signal);
    const markdown = part && renderPart(part);
    if (part?.kind === 'problem' && this.#repeat?.skips(markdown ?? '')) return;
    if (markdown !== undefined) {
      this.#endRepeat();
      this.#push({ kind: 'writtenFile', markdown, isDraft, metadata });
    } else this.#repeat?.skipFile();
  }

  #addEvent(event: Exclude<ReadEvent, MadeFileEvent>): void {
    if (event.kind === 'earlierReasoning') {
      this.#rewrite(event.text);
      return;
    }
    if (event.kind === 'text' && this.#repeat) {
      this.#push({ kind: 'text', text: this.#repeat.push(event.text) });
      return;
    }
    if (event.kind === 'ownCall' && this.#repeat?.skips(event.text)) return;
    // Text that was held back comes before the event that follows it.
    if (event.kind !== 'callInput' && event.kind !== 'metadata') this.#endRepeat();
    this.#push(event);
  }

  /** Writes the text of this attempt again, as reasoning. */
  #rewrite(reasoning: string): void {
    const renderer = this.#createRenderer?.();
    if (!renderer) return;
    // Closed at once, so that what follows is right even if the user has changed the text above it.
    const after = renderer.push({ kind: 'reasoning', text: reasoning }) + renderer.end();
    this.writer.rewrite(this.#written, after);
    this.#renderer = renderer;
    this.#written = after;
  }

  progress(event: ModelEvent): ReplyProgress {
    return event.kind === 'callInput'
      ? { kind: 'calling', name: event.name, chars: event.text.length }
      : { kind: 'writing', chars: this.chars };
  }

  async end(interrupted: string | undefined): Promise<void> {
    if (interrupted === undefined) this.#startAttempt?.();
    await this.#addRead(this.#inline.end());
    if (interrupted === undefined) {
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
    this.#push({ kind: 'text', text: this.#repeat?.end(isWhole) ?? '' });
  }

  #push(event: WrittenEvent): void {
    if (event.kind === 'text' && event.text === '') return;
    if (event.kind === 'text' || event.kind === 'reasoning' || event.kind === 'ownCall')
      this.chars += event.text.length;
    if (event.kind === 'writtenFile') this.chars += event.markdown.length;
    this.#hasWords ||= isWords(event);
    const read = event.kind === 'call' ? repairCall(event, this.#tools) : event;
    const addition = this.#renderer?.push(read) ?? '';
    this.#written += addition;
    this.writer.add(addition);
  }

  /** An unknown tool gets a name too: the call fails, and the model learns why. */
  #nameCall(name: string, { tools }: ModelRequest): ToolName & { readonly id: string } {
    const known = toolOfName(tools, name);
    const { server, tool } = known ??
      readToolName(name.replace('__', '.')) ?? { server: UNKNOWN_SERVER, tool: name || 'unnamed' };
    this.#lastId = newCallId(this.#document.text(), this.#lastId);
    return { server, tool, id: this.#lastId };
  }
}

/** Whether there is more than reasoning. */
function isWords(event: WrittenEvent): boolean {
  if (event.kind === 'writtenFile') return event.isDraft !== true;
  return event.kind === 'call' || (event.kind === 'text' && event.text.trim() !== '');
}
