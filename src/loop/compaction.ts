import { appendSummary } from '../chat/edits/leaveOut.ts';
import { nextAction } from '../chat/format/nextAction.ts';
import { parseChat } from '../chat/format/parse.ts';
import { withoutInlineReasoning } from '../chat/reply/incoming.ts';
import { withRetries } from '../model/providers/retry.ts';
import type { RunOutcome, TextEdit } from '../ports/document.ts';
import type { ModelMessage } from '../ports/models.ts';
import { explainFailedEdit, failed, failedBy, STOPPED } from './document.ts';
import type { ReplyDeps } from './replies.ts';

/** Writes the model's summary of the chat as a turn. Turns above it are no longer sent. */
export async function compact(deps: ReplyDeps, signal: AbortSignal): Promise<RunOutcome> {
  const { document, log, onReply } = deps;
  const answered = countAnswered(document.text());
  if (answered === 0) return failed(NOTHING_YET);
  const text = upTo(document.text(), answered);
  try {
    const summary = await withRetries(() => requestSummary(deps, text, signal), {
      signal,
      log,
      onTick: (ms, { message, failure }) => onReply?.({ kind: 'waiting', ms, reason: message, failure }),
    });
    if (signal.aborted) return STOPPED;
    const written = await document.edit((now) => insertSummary(now, answered, summary));
    return written ? { ok: true, assets: [] } : failed(explainFailedEdit(document));
  } catch (error) {
    return signal.aborted ? STOPPED : failedBy(error);
  }
}

const NOTHING_YET = 'There is nothing to summarize yet. Let the model finish its reply first.';

/** The number of turns up to the last reply or result; 0 while that still leads to a next action. */
function countAnswered(text: string): number {
  const { turns } = parseChat(text);
  const last = turns.findLastIndex((turn) => turn.role === 'assistant' || turn.role === 'tool');
  const done = text.slice(0, turns[last]?.end ?? 0);
  return nextAction(done).kind === 'wait' ? last + 1 : 0;
}

function upTo(text: string, turns: number): string {
  return text.slice(0, parseChat(text).turns[turns - 1]?.end ?? 0);
}

/** Inserts above anything that the user has written in the meantime. */
function insertSummary(text: string, turns: number, summary: string): TextEdit | undefined {
  const above = upTo(text, turns);
  const edit = appendSummary(above, summary);
  return edit && above.length < text.length ? { ...edit, text: `${edit.text}\n` } : edit;
}

async function requestSummary(
  { conversation, onReply, onUsage }: ReplyDeps,
  text: string,
  signal: AbortSignal,
): Promise<string> {
  const { model, request, notes } = await conversation.prepare(text, signal);
  onReply?.({ kind: 'asking', model: model.name, notes });
  // The question comes last, so that the rest of the request is found in the provider's cache.
  const question: ModelMessage = { role: 'user', parts: [{ kind: 'text', text: QUESTION }] };
  const sent = { ...request, messages: [...request.messages, question] };
  let summary = '';
  for await (const event of model.stream(sent, signal)) {
    if (event.kind === 'text') {
      summary += event.text;
      onReply?.({ kind: 'writing', chars: summary.length });
    }
    if (event.kind !== 'finish') continue;
    onUsage?.(model, event.usage, sent);
    // A partial summary would replace the whole conversation.
    if (event.reason === 'length')
      throw new Error('The summary reached the token limit. Nothing was changed.');
  }
  const words = withoutInlineReasoning(summary).trim();
  if (words === '' && !signal.aborted)
    throw new Error('The model sent an empty summary. Nothing was changed.');
  return words;
}

const QUESTION =
  'Summarize this conversation so far for yourself: you will continue from the summary alone. Keep the goals, the decisions and their reasons, facts and figures, file names and asset: references, and open questions. Do not call tools. Write plain Markdown.';
