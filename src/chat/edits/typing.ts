import type { Chat } from '../format/chat.ts';
import { readMarker } from '../format/marker.ts';
import { nextAction } from '../format/nextAction.ts';
import { parseChat, turnBody } from '../format/parse.ts';

/** One change of a document, as an editor reports it. */
export interface TypedChange {
  /** In the text as it is now. */
  readonly offset: number;
  readonly inserted: string;
  readonly removedLength: number;
}

/** A line break, and the indentation that an editor adds to it. */
const LINE_BREAK = /^\r?\n[ \t]*$/;

/**
 * True when one keystroke has just completed an empty `# %% assistant` line at the end of a chat in which the user
 * has said something. A paste, a snippet or any change that takes text away never asks for a reply.
 */
export function asksForReply(text: string, change: TypedChange, chat?: Chat): boolean {
  const { offset, inserted, removedLength } = change;
  if (removedLength > 0 || !LINE_BREAK.test(inserted)) return false;
  // Cheap tests first: this runs at every keystroke.
  if (!text.startsWith(inserted, offset) || text.slice(offset).trim() !== '') return false;
  const line = text.slice(text.lastIndexOf('\n', offset - 1) + 1, offset);
  const marker = readMarker(line);
  if (marker?.role !== 'assistant' || marker.words !== '') return false;
  return endsWithQuestion(text, chat ?? parseChat(text));
}

function endsWithQuestion(text: string, chat: Chat): boolean {
  const last = chat.turns.at(-1);
  const before = chat.turns.at(-2);
  if (last?.role !== 'assistant' || turnBody(text, last).trim() !== '') return false;
  if (before?.role !== 'user' || turnBody(text, before).trim() === '') return false;
  return nextAction(text, chat).kind === 'reply';
}

export interface Run {
  /** The chat when the run began. */
  readonly before: string;
  /** The chat when it ended. */
  readonly after: string;
  /** Where the caret is now. */
  readonly caret: number;
}

/**
 * Where the caret belongs when a run has ended: at the end of the chat, where the user writes next. A run that brought
 * nothing, for instance because the model could not be reached, leaves the caret in the message that was to be sent.
 */
export function caretAfterRun({ before, after, caret }: Run): number {
  const last = after === before ? parseChat(after).turns.at(-1) : undefined;
  const isInMessage = last?.role === 'user' && last.bodyStart <= caret;
  return isInMessage ? caret : after.length;
}
