import type { TextEdit } from '../../ports.ts';
import { nextAction } from '../format/nextAction.ts';
import { type Chat, parseChat, type Turn, turnBody } from '../format/parse.ts';
import { turnAt } from './fork.ts';

/** How a reply makes room for another one. */
export interface Regeneration {
  /** Takes the reply away, and with it all that was said below. */
  readonly edit: TextEdit;
  /** Somebody has said something below the reply: taking that away is for the user to decide. */
  readonly hasLater: boolean;
}

/**
 * Takes away the reply at an offset: all turns of the assistant and its tools between two turns of others. In a
 * question it is the reply to it, in an empty turn below the reply above. Nothing when there is no reply, or when the
 * chat would not ask for a new one.
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
  return nextAction(applied(text, edit)).kind === 'reply' ? { edit, hasLater } : undefined;
}

/** The text as it is after the edit. */
export function applied(text: string, { start, end, text: addition }: TextEdit): string {
  return text.slice(0, start) + addition + text.slice(end);
}

/** The first assistant's turn of each reply, in order. */
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

/** Results of calls that the user has made are the user's: a reply begins with the assistant. */
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
  // Behind results of the user's own calls only an empty turn of the assistant asks for words.
  if (turns[first - 1]?.role !== 'tool') return { start: reply.start, end, text: '' };
  return { start: reply.bodyStart, end, text: end < text.length ? '\n' : '' };
}
