import type { TextEdit } from '../../ports/document.ts';
import { type NamedCall, renderSentId, type SentMark } from '../format/calls.ts';
import { isSameCall, openCalls } from '../format/nextAction.ts';
import { parseChat } from '../format/parse.ts';
import { insertion } from '../format/textEdit.ts';
import { NOTE_START } from '../reply/notes.ts';

/** Written before a call is sent. After a crash, the mark prevents sending the call again. */
export function markSent(text: string, wanted: NamedCall): TextEdit | undefined {
  const { turns } = parseChat(text);
  for (let at = turns.length - 1; at >= 0; at -= 1) {
    const call = openCalls(turns, at).find((each) => !each.sent && isSameCall(each, wanted));
    if (!call) continue;
    const gap = text[call.end - 1] === '\n' ? '' : '\n';
    const note = `${gap}${NOTE_START}sent ${renderSentId(wanted.id)} -->\n`;
    return insertion(call.end, note);
  }
  return undefined;
}

export function removeSentMark(text: string, { id }: NamedCall): TextEdit | undefined {
  const marks = parseChat(text).turns.flatMap(({ sent = [] }) => sent);
  const mark = marks.findLast((each) => each.id === renderSentId(id));
  return mark && removal(text, mark);
}

export function unansweredCalls(text: string): readonly NamedCall[] {
  const { turns } = parseChat(text);
  return turns
    .flatMap(({ sent }, at) => (sent ? openCalls(turns, at) : []))
    .flatMap(({ server, tool, id, sent }) => (sent && id !== undefined ? [{ server, tool, id }] : []));
}

/** Removes a mark without an open call: its call has a result, or was changed or deleted. */
export function removeStaleMark(text: string): TextEdit | undefined {
  const { turns } = parseChat(text);
  const [stale] = turns.flatMap(({ sent = [] }, at) => {
    const open = openCalls(turns, at);
    return sent.filter((mark) => !open.some((call) => call.sent === mark));
  });
  return stale && removal(text, stale);
}

function removal(text: string, { start, end }: SentMark): TextEdit {
  const lineEnd = /\r?\n/y;
  lineEnd.lastIndex = end;
  return { start, end: end + (lineEnd.exec(text)?.[0].length ?? 0), text: '' };
}
