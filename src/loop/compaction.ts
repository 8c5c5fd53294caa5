import { messageOf } from '../base/errors.ts';
import { appendSummary } from '../chat/edits/compact.ts';
import { nextAction } from '../chat/format/nextAction.ts';
import { parseChat } from '../chat/format/parse.ts';
import { countAttempt, NO_ATTEMPTS } from '../model/providers/retry.ts';
import type { RunOutcome, TextEdit } from '../ports/document.ts';
import type { Conversation, ModelMessage, ModelRequest } from '../ports/models.ts';

import { type ChatEdits, failed, STOPPED } from './chatEdits.ts';
import { isModelFailure, type ReplyParts, waitForNextTry } from './replies.ts';

type CompactionParts = Pick<ReplyParts, 'onReply' | 'onUsage' | 'log'> & {
  readonly conversation: Conversation;
};

/** Has the model sum the chat up, and writes the summary as a turn of its own: what is above it is no longer sent. */
export async function compact(
  parts: CompactionParts,
  document: ChatEdits,
  signal: AbortSignal,
): Promise<RunOutcome> {
  const answered = countAnswered(document.text());
  if (answered === 0) return failed(NOTHING_YET);
  try {
    const summary = await askRepeatedly(parts, upTo(document.text(), answered), signal);
    if (signal.aborted) return STOPPED;
    const written = await document.edit((text) => insertSummary(text, answered, summary));
    return written ? { ok: true, assets: [] } : failed(document.whyNotWritten());
  } catch (error) {
    return signal.aborted ? STOPPED : failed(messageOf(error));
  }
}

const NOTHING_YET = 'There is nothing to sum up: let the model finish its answer first.';

/** How many turns are over and done with. A question that still waits for its answer is not one of them. */
function countAnswered(text: string): number {
  const { turns } = parseChat(text);
  const last = turns.findLastIndex((turn) => turn.role === 'assistant' || turn.role === 'tool');
  const done = text.slice(0, turns[last]?.end ?? 0);
  return nextAction(done).kind === 'wait' ? last + 1 : 0;
}

function upTo(text: string, turns: number): string {
  return text.slice(0, parseChat(text).turns[turns - 1]?.end ?? 0);
}

/** Below what it sums up, and above what the user has written meanwhile. */
function insertSummary(text: string, turns: number, summary: string): TextEdit | undefined {
  const above = upTo(text, turns);
  const edit = appendSummary(above, summary);
  return edit && above.length < text.length ? { ...edit, text: `${edit.text}\n` } : edit;
}

async function askRepeatedly(parts: CompactionParts, text: string, signal: AbortSignal): Promise<string> {
  for (let attempts = NO_ATTEMPTS; ; ) {
    try {
      return await askOnce(parts, text, signal);
    } catch (error) {
      if (!isModelFailure(error)) throw error;
      attempts = countAttempt(attempts, { begun: error.begun === true, progress: false });
      const gaveUp = await waitForNextTry(parts, error, { attempts, signal });
      if (signal.aborted) throw error;
      if (gaveUp !== undefined) throw new Error(gaveUp, { cause: error });
    }
  }
}

async function askOnce(parts: CompactionParts, text: string, signal: AbortSignal): Promise<string> {
  const { model, request, notes } = await parts.conversation.prepare(text, signal);
  parts.onReply?.({ kind: 'asking', model: model.name, notes });
  const asked = askForSummary(request);
  let summary = '';
  for await (const event of model.stream(asked, signal)) {
    if (event.kind === 'text') summary += event.text;
    if (event.kind === 'text') parts.onReply?.({ kind: 'writing', chars: summary.length });
    if (event.kind !== 'finish') continue;
    parts.onUsage?.(model, event.usage, asked);
    // Half a summary would take the place of the whole conversation.
    if (event.reason === 'length')
      throw new Error('The summary reached the limit of tokens. Nothing was changed.');
  }
  if (summary.trim() === '' && !signal.aborted)
    throw new Error('The model sent no summary. Nothing was changed.');
  return summary.trim();
}

const QUESTION =
  'Sum up this conversation so far, for yourself: you will go on from the summary alone. Keep the goals, the decisions and their reasons, facts and figures, names of files and asset: references, and what is still open. Call no tool. Write plain Markdown.';

/** Behind everything else, so that all of it comes from the provider's cache. */
function askForSummary(request: ModelRequest): ModelRequest {
  const question: ModelMessage = { role: 'user', parts: [{ kind: 'text', text: QUESTION }] };
  return { ...request, messages: [...request.messages, question] };
}
