import { TimeSlice } from '../base/async.ts';
import { messageOf } from '../base/errors.ts';
import { RunError } from '../model/describeFailure.ts';
import { isModelFailure, type RetryOptions, waitForRetry } from '../model/providers/retry.ts';
import type { RunOutcome } from '../ports/document.ts';
import type { Failure } from '../ports/failures.ts';
import type {
  ChatModel,
  Conversation,
  FinishReason,
  ModelEvent,
  ModelRequest,
  PreparedRequest,
  Usage,
} from '../ports/models.ts';
import { failed, failedBy, STOPPED } from './document.ts';
import type { ToolCallDeps } from './permission.ts';
import { Reply } from './reply.ts';
import { newId, ReplyWriter } from './replyWriter.ts';
import type { MadeFileDeps } from './saveMadeFiles.ts';

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
  for (let attempts = 1; ; attempts += 1) {
    try {
      return await streamReply(deps, reply, signal);
    } catch (error) {
      if (signal.aborted) return { kind: 'stopped' };
      if (!isModelFailure(error)) return { kind: 'failed', error, reason: 'failed' };
      // Complete calls are valid even if the connection broke after them.
      if (reply.hasCalls) return { kind: 'finished', reason: 'calls' };
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
    for (const piece of piecesOf(event)) {
      await reply.add(piece, signal);
      // Events that have arrived together come without a pause between them.
      if (slice.isOver()) await slice.pause();
    }
    onReply?.(progressOf(event, reply));
  }
  // Some models end their stream when it is aborted.
  if (signal.aborted) return { kind: 'stopped' };
  const error = new RunError({ kind: 'lost', reason: 'The response ended unexpectedly.' });
  return { kind: 'failed', error, reason: 'connection lost' };
}

const MAX_PIECE_CHARS = 20_000;

/** A long text in pieces, so that escaping it does not block the editor. */
function* piecesOf(event: ModelEvent): Generator<ModelEvent> {
  const isLong = (event.kind === 'text' || event.kind === 'reasoning') && event.text.length > MAX_PIECE_CHARS;
  if (!isLong) return yield event;
  for (let at = 0; at < event.text.length; at += MAX_PIECE_CHARS)
    yield { ...event, text: event.text.slice(at, at + MAX_PIECE_CHARS) };
}

function progressOf(event: ModelEvent, { chars }: Reply): ReplyProgress {
  return event.kind === 'callInput'
    ? { kind: 'calling', name: event.name, chars: event.text.length }
    : { kind: 'writing', chars };
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
