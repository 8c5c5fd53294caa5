import { defined } from '../../base/json.ts';
import { parseArguments, renderToolName, type WrittenCall } from '../../chat/format/callInfo.ts';
import type { Turn } from '../../chat/format/chat.ts';
import { answeredCall, type CallKey, matchAnswers } from '../../chat/format/nextAction.ts';
import { type ReplyPart, readReply } from '../../chat/reply/read.ts';
import type { AssistantPart, CallResult, ContentPart, ModelMessage, ModelTool } from '../../ports/models.ts';
import type { Asset } from '../../ports/results.ts';
import { assetReference } from '../../result/modelView.ts';
import { joinTexts, mergeMessages, textPart, userText } from './messages.ts';
import { nameOfTool } from './modelTools.ts';
import type { MadeViews, ViewedResult } from './resultFiles.ts';

export interface ReplyContext {
  readonly tools: readonly ModelTool[];
  readonly results: ReadonlyMap<Turn, ViewedResult>;
  readonly made: MadeViews;
  readonly ids: CallIds;
}

/**
 * The message of an assistant turn, and a message with the results of its calls, in the order of the calls.
 * `turnCalls` are the calls in the body if they depend on the turns that follow; see `callsInBody`.
 */
export function replyMessages(
  body: string,
  answers: readonly Turn[],
  context: ReplyContext,
  turnCalls?: readonly WrittenCall[],
): readonly ModelMessage[] {
  const written = readReply(body, turnCalls);
  const calls = written.filter((part) => part.kind === 'call');
  const matched = turnsAnswering(calls, answers);
  const results: CallResult[] = [];
  const parts: AssistantPart[] = [];
  for (const part of written) {
    if (part.kind !== 'call') parts.push(...viewPart(part, context.made));
    else {
      const answer = matched[results.length];
      const { call, result } = viewCall(part, answer && context.results.get(answer), context);
      parts.push(call);
      results.push(result);
    }
  }
  // Some providers refuse reasoning without text or calls.
  if (!parts.some((part) => part.kind !== 'reasoning')) return [];
  const message: ModelMessage = { role: 'assistant', parts: joinTexts(parts) };
  return results.length > 0 ? [message, { role: 'tool', results }] : [message];
}

/** The tool turn that answers each call. A turn answers only one call. */
export function turnsAnswering(
  calls: readonly CallKey[],
  answers: readonly Turn[],
): readonly (Turn | undefined)[] {
  const answering = answers.map((turn) => ({ ...answeredCall(turn), turn }));
  return matchAnswers(calls, answering).map((answer) => answer?.turn);
}

/** Gives every call of a request a unique id that every provider accepts. */
export class CallIds {
  readonly #taken = new Set<string>();
  /** The next number of an id that is taken. */
  readonly #numbers = new Map<string, number>();

  take(written: string | undefined): string {
    const wanted = written !== undefined && /^[A-Za-z0-9_-]{1,40}$/.test(written) ? written : 'call';
    let id = wanted;
    let number = this.#numbers.get(wanted) ?? 2;
    for (; this.#taken.has(id); number += 1) id = `${wanted.slice(0, 32)}_${number}`;
    this.#numbers.set(wanted, number);
    this.#taken.add(id);
    return id;
  }
}

/** Providers refuse reasoning that was edited after they signed it. */
function viewPart(part: Exclude<ReplyPart, { kind: 'call' }>, made: MadeViews): readonly AssistantPart[] {
  const { metadata } = part;
  if (part.kind === 'file') {
    const view = made.get(part.asset.path);
    return view ? [view.kind === 'file' ? { ...view, ...defined({ metadata }) } : view] : [];
  }
  const { kind, text } = part;
  if (part.kind === 'reasoning') {
    return part.intact && metadata !== undefined ? [{ kind: 'reasoning', text, metadata }] : [];
  }
  // Gemini may sign an empty text.
  if (text.trim() === '' && metadata === undefined) return [];
  return [{ kind, text, ...defined({ metadata }) }];
}

const NO_RESULT = 'There is no result: the call was not run, or its result was removed from the chat.';
const MAX_SHOWN_CHARS = 10_000;

function viewCall(
  { server, tool, id: written, argumentsText, metadata }: Extract<ReplyPart, { kind: 'call' }>,
  answer: ViewedResult | undefined,
  { tools, ids }: ReplyContext,
): { readonly call: AssistantPart; readonly result: CallResult } {
  const id = ids.take(written);
  const name = nameOfTool(tools, { server, tool });
  const args = parseArguments(argumentsText);
  const problem: readonly ContentPart[] = args.ok
    ? []
    : [textPart(`${args.message}\nThe arguments were: ${argumentsText.trim().slice(0, MAX_SHOWN_CHARS)}`)];
  const found = answer ?? { isError: true, parts: [textPart(NO_RESULT)] };
  return {
    call: { kind: 'call', id, name, arguments: args.ok ? args.value : {}, ...defined({ metadata }) },
    result: { id, name, isError: found.isError, parts: [...found.parts, ...problem] },
  };
}

/** An interrupted reply. */
interface CutReply {
  readonly text: string;
  readonly endsInCode: boolean;
  /** The files that the model has made. */
  readonly files: readonly Asset[];
  /** The complete calls, which run when the reply is complete. */
  readonly calls: readonly WrittenCall[];
}

const CUT = 'Your last reply was interrupted. This is the part that arrived:';
const CONTINUE =
  'Continue exactly where it ends: your output is appended directly after its last character. Do not repeat any of it, and do not comment on the interruption.';
const IN_CODE = 'It ends inside an open code block: continue the code, and do not open the block again.';
const FILES = 'You have already made these files, which are saved. Do not make them again:';
const CALLS = 'It is followed by these tool calls, which will run. Do not repeat them:';

/**
 * Asks the model to continue an interrupted reply. The reply goes into the last user message, because some providers
 * refuse an assistant message at the end.
 */
export function withContinuation(
  messages: readonly ModelMessage[],
  reply: CutReply,
): readonly ModelMessage[] {
  // A reply that was interrupted before its first word is requested again.
  if (reply.text.trim() === '' && reply.calls.length === 0 && reply.files.length === 0) return messages;
  return mergeMessages([...messages, userText(describeCut(reply))]);
}

function describeCut({ text, endsInCode, files, calls }: CutReply): string {
  const made = calls.map((call) => `- ${renderToolName(call)} ${call.argumentsText.trim()}`);
  return [
    CUT,
    `<partial_reply>${text}</partial_reply>`,
    ...(files.length > 0 ? [FILES, ...files.map(({ path }) => `- ${assetReference(path)}`)] : []),
    ...(made.length > 0 ? [CALLS, ...made] : []),
    endsInCode ? `${CONTINUE} ${IN_CODE}` : CONTINUE,
  ].join('\n');
}
