import type { Chat } from '../../chat/format/chat.ts';
import { answersTo } from '../../chat/format/nextAction.ts';
import { isEmptyTurn, turnBody } from '../../chat/format/parse.ts';
import { DECLINED } from '../../loop/permission.ts';

/** Whether the chat ends with an empty turn in which the user can tell the model why a call was declined. */
export function wantsReason(text: string, { turns }: Chat): boolean {
  const last = turns.at(-1);
  if (last?.role !== 'user' || !isEmptyTurn(text, last)) return false;
  const at = turns.findLastIndex(({ role }) => role === 'assistant');
  const answers = answersTo(turns, at);
  return (
    at >= 0 &&
    turns.indexOf(last) === at + answers.length + 1 &&
    answers.some((turn) => turnBody(text, turn).trim() === `> ⚠ ${DECLINED}`)
  );
}
