import type { TextEdit } from '../../ports/document.ts';
import type { Chat, Turn } from '../format/chat.ts';
import { answersTo, nextAction } from '../format/nextAction.ts';
import { parseChat, turnAt, turnBody } from '../format/parse.ts';
import { endWithUserTurn } from './append.ts';

/**
 * The text of a new chat: everything up to the end of the turn at the offset, with the results of its calls. It
 * ends with a user turn: the given one if it has text, so that it can be edited, or else an empty one.
 */
export function forkAt(text: string, offset: number): string {
  const chat = parseChat(text);
  const turn = turnAt(chat, offset);
  if (!turn) return withUserTurn(text.slice(0, chat.turns[0]?.start ?? text.length));
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return withUserTurn(`${text.slice(0, endWithAnswers(chat, turn)).trimEnd()}${eol}`);
}

/** Includes all results that follow the turn. */
function endWithAnswers(chat: Chat, turn: Turn): number {
  return answersTo(chat.turns, chat.turns.indexOf(turn)).at(-1)?.end ?? turn.end;
}

function withUserTurn(text: string): string {
  const addition = endWithUserTurn(text)?.text ?? '';
  return text + (text.includes('\r\n') ? addition.replaceAll('\n', '\r\n') : addition);
}

/** Removes everything after the user turn at the offset, so that it can be run again. */
export function cutAfter(text: string, offset: number): TextEdit | undefined {
  if (!hasLaterTurns(text, offset)) return undefined;
  const turn = turnAt(parseChat(text), offset);
  if (!turn) return undefined;
  const start = turn.start + text.slice(turn.start, turn.end).trimEnd().length;
  return { start, end: text.length, text: text.includes('\r\n') ? '\r\n' : '\n' };
}

/** Whether the turn at the offset is a user turn with text and a reply. */
export function hasLaterTurns(text: string, offset: number): boolean {
  const chat = parseChat(text);
  const turn = turnAt(chat, offset);
  if (turn?.role !== 'user' || turnBody(text, turn).trim() === '') return false;
  return chat.turns.some((each) => each.role === 'assistant' && each.start >= turn.end);
}

export interface Regeneration {
  /** Removes the reply and everything below it. */
  readonly edit: TextEdit;
  /** There is text below the reply, so the user must confirm the removal. */
  readonly hasLater: boolean;
}

/**
 * Removes the reply at an offset: all assistant and tool turns between two other turns. For a question it is the
 * reply below, for an empty turn the reply above. Returns `undefined` if there is no reply, or if the remaining
 * chat would not request one.
 */
export function planRegeneration(
  text: string,
  offset: number,
  chat: Chat = parseChat(text),
): Regeneration | undefined {
  const { turns } = chat;
  const first = firstOfReply(text, turns, placeOf(chat, offset));
  const reply = turns[first];
  if (!reply) return undefined;
  const next = turns.findIndex((turn, at) => at > first && !isReply(turn));
  const rest = next < 0 ? [] : turns.slice(next);
  const hasLater = rest.some((turn) => turnBody(text, turn).trim() !== '');
  const end = hasLater ? text.length : (rest[0]?.start ?? text.length);
  const edit = removal(text, { turns, first, reply, end });
  return nextAction(editedText(text, edit)).kind === 'reply' ? { edit, hasLater } : undefined;
}

export function editedText(text: string, { start, end, text: addition }: TextEdit): string {
  return text.slice(0, start) + addition + text.slice(end);
}

/** The first assistant turn of each reply. */
export function replyStarts(chat: Chat): readonly Turn[] {
  return chat.turns.filter((turn, at) => turn.role === 'assistant' && !hasAssistantBefore(chat.turns, at));
}

function hasAssistantBefore(turns: readonly Turn[], at: number): boolean {
  let before = at - 1;
  while (turns[before]?.role === 'tool') before -= 1;
  return turns[before]?.role === 'assistant';
}

function isReply({ role }: Turn): boolean {
  return role === 'assistant' || role === 'tool';
}

function placeOf(chat: Chat, offset: number): number {
  const turn = turnAt(chat, offset);
  return turn ? chat.turns.indexOf(turn) : -1;
}

/** Results of the user's own calls are not part of the reply. */
function firstOfReply(text: string, turns: readonly Turn[], at: number): number {
  const turn = turns[at];
  if (!turn) return -1;
  let from = at;
  if (!isReply(turn)) {
    const isQuestion = turn.role === 'user' && turnBody(text, turn).trim() !== '';
    from = isQuestion ? at + 1 : at - 1;
  }
  while (from > 0 && isReply(turns[from - 1] ?? turn)) from -= 1;
  while (turns[from]?.role === 'tool') from += 1;
  return turns[from]?.role === 'assistant' ? from : -1;
}

interface Removed {
  readonly turns: readonly Turn[];
  readonly first: number;
  readonly reply: Turn;
  readonly end: number;
}

function removal(text: string, { turns, first, reply, end }: Removed): TextEdit {
  // After results of the user's own calls, only an empty assistant turn requests a reply.
  if (turns[first - 1]?.role !== 'tool') return { start: reply.start, end, text: '' };
  return { start: reply.bodyStart, end, text: end < text.length ? '\n' : '' };
}
