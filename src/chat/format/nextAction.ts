import { groupBy } from '../../base/collections.ts';
import { readToolName, renderSentId, type SentMark, type WrittenCall } from './callInfo.ts';
import type { Chat, Turn } from './chat.ts';
import { isEmptyTurn, parseChat } from './parse.ts';

/** The next action, derived from the text alone. */
export type NextAction =
  | { readonly kind: 'wait'; readonly reason: string }
  | { readonly kind: 'reply' }
  /** The last reply is incomplete and continues where it was cut. */
  | { readonly kind: 'resume' }
  /** Some calls have no result. `calls` excludes those that were already sent. */
  | { readonly kind: 'runTools'; readonly calls: readonly WrittenCall[] };

export function nextAction(text: string, chat: Chat = parseChat(text)): NextAction {
  const at = lastSpeaker(text, chat.turns);
  const speaker = chat.turns[at];
  if (!speaker) return { kind: 'wait', reason: 'The chat is empty: write something below “# %% user”.' };
  // Its calls wait until the reply is complete.
  if (speaker.cut) return { kind: 'resume' };
  const problem = chat.problems.find(({ offset }) => speaker.start <= offset && offset <= speaker.end);
  if (problem) return { kind: 'wait', reason: `Line ${lineOf(text, problem.offset)}: ${problem.message}` };
  const open = openCalls(chat.turns, at);
  if (open.length > 0) return { kind: 'runTools', calls: open.filter(({ sent }) => !sent) };
  if (speaker.role === 'assistant') {
    // An empty assistant turn requests a reply; one with answered calls requests a continuation.
    return isEmptyTurn(text, speaker) || speaker.calls.length > 0 ? { kind: 'reply' } : YOUR_TURN;
  }
  if (speaker.calls.length > 0 && chat.turns[at + 1]?.role === 'tool') return YOUR_TURN;
  return speaker.role === 'user' ? { kind: 'reply' } : YOUR_TURN;
}

/** Whether a run leads to a request to a model. A call that the user has written is not followed by a reply. */
export function needsModel(text: string, chat: Chat = parseChat(text)): boolean {
  const { kind } = nextAction(text, chat);
  if (kind !== 'runTools') return kind !== 'wait';
  return chat.turns[lastSpeaker(text, chat.turns)]?.role === 'assistant';
}

/** The last reply, if it is incomplete. It can be resumed even if the user has written below it. */
export function interruptedReply(turns: readonly Turn[]): Turn | undefined {
  const last = turns.findLast(({ role }) => role === 'assistant');
  return last?.cut ? last : undefined;
}

const YOUR_TURN: NextAction = { kind: 'wait', reason: 'It is your turn: write below “# %% user”, then run.' };

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** The calls of a turn that have no result and were not sent. */
export function pendingCalls(turns: readonly Turn[], at: number): readonly WrittenCall[] {
  return openCalls(turns, at).filter(({ sent }) => !sent);
}

interface OpenCall extends WrittenCall {
  readonly sent?: SentMark | undefined;
}

export function openCalls(turns: readonly Turn[], at: number): readonly OpenCall[] {
  const { calls = [], sent = [] } = turns[at] ?? {};
  if (calls.length === 0) return [];
  const marks = marksOf(calls, sent);
  const answers = answersTo(turns, at);
  const answered = new Set(answers.length === 0 ? [] : matchAnswers(answers.map(answeredCall), calls));
  return calls
    .filter((call) => !answered.has(call))
    .map((call): OpenCall => ({ ...call, sent: marks.get(call) }));
}

/** A mark belongs to the last call above it with the same id. The first one counts. */
function marksOf(
  calls: readonly WrittenCall[],
  sent: readonly SentMark[],
): ReadonlyMap<WrittenCall, SentMark> {
  const marks = new Map<WrittenCall, SentMark>();
  const above = new Map<string, WrittenCall>();
  let next = 0;
  for (const mark of sent) {
    for (let call = calls[next]; call && call.end <= mark.start; call = calls[next]) {
      if (call.id !== undefined) above.set(renderSentId(call.id), call);
      next += 1;
    }
    const call = above.get(mark.id);
    if (call && !marks.has(call)) marks.set(call, mark);
  }
  return marks;
}

/** For each key, the first of the items that is the same and that no key before it has. */
export function matchAnswers<Item extends CallKey>(
  keys: readonly CallKey[],
  items: readonly Item[],
): readonly (Item | undefined)[] {
  const free = groupBy(items.toReversed(), textOfKey);
  return keys.map((key) => free.get(textOfKey(key))?.pop());
}

function textOfKey({ server, tool, id }: CallKey): string {
  return JSON.stringify([server, tool, id]);
}

/** The tool turns that directly follow a turn. */
export function answersTo(turns: readonly Turn[], at: number): readonly Turn[] {
  let end = at + 1;
  while (turns[end]?.role === 'tool') end += 1;
  return turns.slice(at + 1, end);
}

export interface CallKey {
  readonly server?: string;
  readonly tool?: string;
  readonly id?: string | undefined;
}

/** The call that a tool turn answers, from the text on its marker line. */
export function answeredCall(turn: Turn): CallKey {
  const [name = '', id] = turn.markerText.split(/[ \t]+/);
  return { ...readToolName(name), id };
}

export function isSameCall(a: CallKey, b: CallKey): boolean {
  return a.server === b.server && a.tool === b.tool && a.id === b.id;
}

/** The last user or assistant turn, ignoring empty user turns. */
function lastSpeaker(text: string, turns: readonly Turn[]): number {
  return turns.findLastIndex(
    (turn) => turn.role === 'assistant' || (turn.role === 'user' && !isEmptyTurn(text, turn)),
  );
}
