import type { TextEdit } from '../../ports/document.ts';
import type { Chat, Turn } from '../format/chat.ts';
import { answersTo, nextAction } from '../format/nextAction.ts';
import { isEmptyTurn, parseChat, turnAt } from '../format/parse.ts';
import { editedText, lineEndOf } from '../format/textEdit.ts';
import { endWithUserTurn } from './append.ts';

/**
 * The text of a new chat: everything up to the end of the turn at the offset, with the results of its calls. It
 * ends with a user turn: the given one if it has text, so that it can be edited, or else an empty one.
 */
export function forkAt(text: string, offset: number): string {
  const chat = parseChat(text);
  const turn = turnAt(chat, offset);
  if (!turn) return withUserTurn(text.slice(0, chat.turns[0]?.start ?? text.length));
  const end = answersTo(chat.turns, chat.turns.indexOf(turn)).at(-1)?.end ?? turn.end;
  return withUserTurn(text.slice(0, end).trimEnd() + lineEndOf(text));
}

function withUserTurn(text: string): string {
  const addition = endWithUserTurn(text)?.text ?? '';
  return text + addition.replaceAll('\n', lineEndOf(text));
}

/** Removes everything after the user turn at the offset, so that it can be run again. */
export function cutAfter(text: string, offset: number): TextEdit | undefined {
  const turn = hasLaterTurns(text, offset) && turnAt(parseChat(text), offset);
  if (!turn) return undefined;
  const start = turn.start + text.slice(turn.start, turn.end).trimEnd().length;
  return { start, end: text.length, text: lineEndOf(text) };
}

export function hasLaterTurns(text: string, offset: number): boolean {
  const chat = parseChat(text);
  const turn = turnAt(chat, offset);
  if (turn?.role !== 'user' || isEmptyTurn(text, turn)) return false;
  return chat.turns.some((each) => each.role === 'assistant' && each.start >= turn.end);
}

/**
 * Removes the reply at an offset and everything below it. A reply is all assistant and tool turns between two other
 * turns. At a question, it is the reply below; at an empty turn, the reply above. Returns `undefined` if there is no
 * reply, or if the remaining chat would not request one.
 */
export function planRegeneration(text: string, offset: number, chat: Chat = parseChat(text)) {
  const { turns } = chat;
  const first = replyStart(text, chat, offset);
  const reply = turns[first];
  if (!reply) return undefined;
  const next = turns.findIndex((turn, at) => at > first && !isReply(turn));
  const rest = next < 0 ? [] : turns.slice(next);
  // Then the user must confirm the removal.
  const hasLater = rest.some((turn) => !isEmptyTurn(text, turn));
  const end = hasLater ? text.length : (rest[0]?.start ?? text.length);
  // After results of the user's own calls, only an empty assistant turn requests a reply.
  const edit =
    turns[first - 1]?.role === 'tool'
      ? { start: reply.bodyStart, end, text: end < text.length ? '\n' : '' }
      : { start: reply.start, end, text: '' };
  return nextAction(editedText(text, edit)).kind === 'reply' ? { edit, hasLater } : undefined;
}

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

/** Results of the user's own calls are not part of the reply. */
function replyStart(text: string, chat: Chat, offset: number): number {
  const { turns } = chat;
  const turn = turnAt(chat, offset);
  if (!turn) return -1;
  let from = turns.indexOf(turn);
  if (!isReply(turn)) from += turn.role === 'user' && !isEmptyTurn(text, turn) ? 1 : -1;
  while (from > 0 && isReply(turns[from - 1] ?? turn)) from -= 1;
  while (turns[from]?.role === 'tool') from += 1;
  return turns[from]?.role === 'assistant' ? from : -1;
}
