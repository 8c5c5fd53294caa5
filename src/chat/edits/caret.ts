import { parseChat } from '../format/parse.ts';

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
