import { startOfLine } from '../../base/lines.ts';
import { type Chat, readMarker } from '../format/chat.ts';
import { nextAction } from '../format/nextAction.ts';
import { isEmptyTurn, parseChat } from '../format/parse.ts';

/** With the indentation that an editor adds. */
const LINE_BREAK = /^\r?\n[ \t]*$/;

/**
 * True if a keystroke has completed an empty `# %% assistant` line at the end of a chat with a question. Pasting,
 * snippets and changes that remove text never request a reply.
 */
export function asksForReply(
  text: string,
  /** The offset is in the text after the change. */
  change: { readonly offset: number; readonly inserted: string; readonly removedLength: number },
  chat?: Chat,
): boolean {
  const { offset, inserted, removedLength } = change;
  if (removedLength > 0 || !LINE_BREAK.test(inserted)) return false;
  // Cheap checks first: this runs on every keystroke.
  if (!text.startsWith(inserted, offset) || text.slice(offset).trim() !== '') return false;
  const line = text.slice(startOfLine(text, offset), offset);
  const marker = readMarker(line);
  if (marker?.role !== 'assistant' || marker.markerText !== '') return false;
  return endsWithQuestion(text, chat ?? parseChat(text));
}

function endsWithQuestion(text: string, chat: Chat): boolean {
  const last = chat.turns.at(-1);
  const before = chat.turns.at(-2);
  if (last?.role !== 'assistant' || !isEmptyTurn(text, last)) return false;
  if (before?.role !== 'user' || isEmptyTurn(text, before)) return false;
  return nextAction(text, chat).kind === 'reply';
}

/**
 * The caret position after a run: the end of the chat, where the user writes next. If the run changed nothing (for
 * example, the model was unreachable), the caret stays in the message.
 */
export function caretAfterRun(run: { before: string; after: string; caret: number }): number {
  const { before, after, caret } = run;
  const last = after === before ? parseChat(after).turns.at(-1) : undefined;
  const isInMessage = last?.role === 'user' && last.bodyStart <= caret;
  return isInMessage ? caret : after.length;
}
