import { readToolName, renderSentId, type SentMark, type WrittenCall } from './calls.ts';
import type { Chat, Turn } from './chat.ts';
import { parseChat, turnBody } from './parse.ts';

/** What the file asks for next. It follows from the text alone. */
export type NextAction =
  | { readonly kind: 'wait'; readonly reason: string }
  | { readonly kind: 'reply' }
  /** The last reply is not whole: it goes on where it was cut. */
  | { readonly kind: 'resume' }
  /** There are calls without a result. Those that were sent already are not among `calls`. */
  | { readonly kind: 'runTools'; readonly calls: readonly WrittenCall[] };

export function nextAction(text: string, chat: Chat = parseChat(text)): NextAction {
  const at = lastSpeaker(text, chat.turns);
  const speaker = chat.turns[at];
  if (!speaker) return { kind: 'wait', reason: 'The chat is empty: write something below “# %% user”.' };
  // Its calls wait: the model may not have said all that it wanted to say about them.
  if (speaker.cut) return { kind: 'resume' };
  const problem = chat.problems.find(({ offset }) => speaker.start <= offset && offset <= speaker.end);
  if (problem) return { kind: 'wait', reason: `Line ${lineOf(text, problem.offset)}: ${problem.message}` };
  const open = openCalls(chat.turns, at);
  if (open.length > 0) return { kind: 'runTools', calls: open.filter(({ sent }) => !sent) };
  const body = turnBody(text, speaker).trim();
  if (speaker.role === 'assistant') {
    // An empty assistant turn asks for its text; one whose calls are answered asks to go on.
    return body === '' || speaker.calls.length > 0 ? { kind: 'reply' } : YOUR_TURN;
  }
  if (speaker.calls.length > 0 && chat.turns[at + 1]?.role === 'tool') return YOUR_TURN;
  return speaker.role === 'user' ? { kind: 'reply' } : YOUR_TURN;
}

/** The last reply, if it was cut. It can be resumed also when the user has written below it. */
export function cutReply(turns: readonly Turn[]): Turn | undefined {
  const last = turns.findLast(({ role }) => role === 'assistant');
  return last?.cut ? last : undefined;
}

const YOUR_TURN: NextAction = { kind: 'wait', reason: 'It is your turn: write below “# %% user”, then run.' };

function lineOf(text: string, offset: number): number {
  return text.slice(0, offset).split('\n').length;
}

/** The pending calls of one turn, in order: those that have no result and were not sent yet. */
export function pendingCalls(turns: readonly Turn[], at: number): readonly WrittenCall[] {
  return openCalls(turns, at).filter(({ sent }) => !sent);
}

export interface OpenCall extends WrittenCall {
  readonly sent?: SentMark | undefined;
}

/** The calls of one turn that no tool turn behind it has answered, in their order. */
export function openCalls(turns: readonly Turn[], at: number): readonly OpenCall[] {
  const { calls = [], sent = [] } = turns[at] ?? {};
  const open = calls.map((call): OpenCall => ({ ...call, sent: markOf(call, calls, sent) }));
  for (const turn of answersTo(turns, at)) {
    const answered = open.findIndex((call) => isSameCall(answeredCall(turn), call));
    if (answered >= 0) open.splice(answered, 1);
  }
  return open;
}

/** A mark belongs to the last call above it that has its id. */
function markOf(
  call: WrittenCall,
  calls: readonly WrittenCall[],
  marks: readonly SentMark[],
): SentMark | undefined {
  const { id, end } = call;
  if (id === undefined || marks.length === 0) return undefined;
  const next = calls.find((each) => each.start >= end && each.id === id)?.start ?? Number.POSITIVE_INFINITY;
  return marks.find((mark) => mark.id === renderSentId(id) && mark.start >= end && mark.start < next);
}

/** The tool turns that directly follow a turn. */
export function answersTo(turns: readonly Turn[], at: number): readonly Turn[] {
  let end = at + 1;
  while (turns[end]?.role === 'tool') end += 1;
  return turns.slice(at + 1, end);
}

/** What a call is known by. */
export interface CallName {
  readonly server?: string;
  readonly tool?: string;
  readonly id?: string | undefined;
}

/** Which call a tool turn answers, by the words on its line. */
export function answeredCall(turn: Turn): CallName {
  const [name = '', id] = turn.words.split(/[ \t]+/);
  return { ...readToolName(name), id };
}

export function isSameCall(a: CallName, b: CallName): boolean {
  return a.server === b.server && a.tool === b.tool && a.id === b.id;
}

/** The last turn of a user or an assistant, not counting empty user turns that wait for text. */
function lastSpeaker(text: string, turns: readonly Turn[]): number {
  return turns.findLastIndex(
    (turn) => turn.role === 'assistant' || (turn.role === 'user' && turnBody(text, turn).trim() !== ''),
  );
}
