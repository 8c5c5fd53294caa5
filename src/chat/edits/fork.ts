import type { TextEdit } from '../../ports.ts';
import { answersTo } from '../format/nextAction.ts';
import { type Chat, parseChat, type Turn, turnBody } from '../format/parse.ts';
import { endWithUserTurn } from './append.ts';

/** The turn that an offset is in, found by halving; at the very end of the file, the last one. */
export function turnAt({ turns }: Pick<Chat, 'turns'>, offset: number): Turn | undefined {
  let low = 0;
  let high = turns.length;
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((turns[middle]?.start ?? 0) <= offset) low = middle + 1;
    else high = middle;
  }
  return turns[low - 1];
}

/**
 * The text of a new chat: all up to the end of the turn at the offset, with the results of its calls, and a turn of
 * the user's to write in. A turn of the user's that says something stays the last one, so that it can be changed.
 */
export function forkAt(text: string, offset: number): string {
  const chat = parseChat(text);
  const turn = turnAt(chat, offset);
  if (!turn) return withUserTurn(text.slice(0, chat.turns[0]?.start ?? text.length));
  const eol = text.includes('\r\n') ? '\r\n' : '\n';
  return withUserTurn(`${text.slice(0, endWithAnswers(chat, turn)).trimEnd()}${eol}`);
}

/** A tool's turn is one of several answers: it ends with the last of them. */
function endWithAnswers(chat: Chat, turn: Turn): number {
  return answersTo(chat.turns, chat.turns.indexOf(turn)).at(-1)?.end ?? turn.end;
}

function withUserTurn(text: string): string {
  const addition = endWithUserTurn(text)?.text ?? '';
  return text + (text.includes('\r\n') ? addition.replaceAll('\n', '\r\n') : addition);
}

/** Takes away all that follows the user's turn at the offset, so that it can be run again. */
export function cutAfter(text: string, offset: number): TextEdit | undefined {
  if (!hasLaterTurns(text, offset)) return undefined;
  const turn = turnAt(parseChat(text), offset);
  if (!turn) return undefined;
  const start = turn.start + text.slice(turn.start, turn.end).trimEnd().length;
  return { start, end: text.length, text: text.includes('\r\n') ? '\r\n' : '\n' };
}

/** Whether the turn at the offset is a user's, says something, and has a reply. */
export function hasLaterTurns(text: string, offset: number): boolean {
  const chat = parseChat(text);
  const turn = turnAt(chat, offset);
  if (turn?.role !== 'user' || turnBody(text, turn).trim() === '') return false;
  return chat.turns.some((each) => each.role === 'assistant' && each.start >= turn.end);
}
