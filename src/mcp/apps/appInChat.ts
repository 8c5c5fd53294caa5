import { turnAt } from '../../chat/edits/fork.ts';
import { readArguments } from '../../chat/format/calls.ts';
import { answeredCall, answersTo, isSameCall } from '../../chat/format/nextAction.ts';
import { parseChat, type Turn, turnBody } from '../../chat/format/parse.ts';
import type { ToolCall, ToolResult } from '../../ports.ts';
import { readToolResult } from '../../result/readMarkdown.ts';

/** The call at an offset, in its own fence or in the tool's turn that answers it, with what the chat kept of its result. */
export function answeredCallAt(
  text: string,
  offset: number,
): { readonly call: ToolCall; readonly result: ToolResult } | undefined {
  const chat = parseChat(text);
  const at = turnAt(chat, offset);
  const speakerAt = chat.turns.findLastIndex((turn) => turn.role !== 'tool' && turn.start <= offset);
  const isAnswerTo = (turn: Turn) => (call: Turn['calls'][number]) => isSameCall(answeredCall(turn), call);
  const calls = chat.turns[speakerAt]?.calls ?? [];
  const written =
    at?.role === 'tool'
      ? calls.find(isAnswerTo(at))
      : calls.find(({ start, end }) => start <= offset && offset <= end);
  const answer = written && answersTo(chat.turns, speakerAt).find((turn) => isAnswerTo(turn)(written));
  const args = written && readArguments(written.argumentsText);
  if (!answer || !args?.ok) return undefined;
  const { server, tool, id = '' } = written;
  return {
    call: { server, tool, id, arguments: args.value },
    result: readToolResult(turnBody(text, answer)),
  };
}
