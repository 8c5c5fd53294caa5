import { renderToolName, type WrittenCall } from '../../chat/format/calls.ts';
import type { ContentPart, ModelMessage } from '../../ports.ts';

/** What is there of a reply that was cut. */
export interface CutReply {
  readonly text: string;
  readonly endsInCode: boolean;
  /** The calls that came whole: they wait until the reply is whole too. */
  readonly calls: readonly WrittenCall[];
}

const CUT = 'Your last reply was cut off on its way. What follows is all of it that arrived:';
const GO_ON =
  'Go on exactly where it ends: your next words are put directly behind its last character. Do not repeat any of it, and do not comment on the interruption.';
const IN_CODE =
  'It ends inside a code block that is still open: go on with the code, and do not open it again.';
const CALLS = 'Behind it stand these calls of tools, which will run. Do not make them again:';

/**
 * The messages of a request that goes on with a cut reply. The reply is in it once, in the user's last message,
 * because providers differ in what they make of an assistant's message at the end, and some refuse it.
 */
export function withContinuation(
  messages: readonly ModelMessage[],
  reply: CutReply,
): readonly ModelMessage[] {
  // Of a reply that was cut before its first word there is nothing to go on with: it begins anew.
  if (reply.text.trim() === '' && reply.calls.length === 0) return messages;
  const last = messages.at(-1);
  const part: ContentPart = { kind: 'text', text: describeCut(reply) };
  if (last?.role !== 'user') return [...messages, { role: 'user', parts: [part] }];
  return [...messages.slice(0, -1), { role: 'user', parts: [...last.parts, part] }];
}

function describeCut({ text, endsInCode, calls }: CutReply): string {
  const made = calls.map((call) => `- ${renderToolName(call)} ${call.argumentsText.trim()}`);
  return [
    CUT,
    `<partial_reply>${text}</partial_reply>`,
    ...(made.length > 0 ? [CALLS, ...made] : []),
    endsInCode ? `${GO_ON} ${IN_CODE}` : GO_ON,
  ].join('\n');
}
