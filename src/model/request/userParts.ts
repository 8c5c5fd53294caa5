import { trimBlankLines } from '../../base/lines.ts';
import { renderToolName, type WrittenCall } from '../../chat/format/calls.ts';
import { withoutComments } from '../../chat/format/comments.ts';
import { unescapeMarkers } from '../../chat/format/escape.ts';
import { localLinks } from '../../chat/format/links.ts';
import { type Turn, turnBody } from '../../chat/format/parse.ts';
import type { ContentPart } from '../../ports.ts';
import { type AttachedLink, text } from './attachments.ts';
import type { ViewedResult } from './resultParts.ts';

/** What a user wrote, without the comments; nothing when that is nothing. */
export function textParts(written: string): readonly ContentPart[] {
  const plain = unescapeMarkers(trimBlankLines(withoutComments(written)));
  return plain.trim() === '' ? [] : [text(plain)];
}

/** A call that the user wrote and ran; its result follows. Providers know no calls of users, so it is told in words. */
export function calledText(call: WrittenCall, result: ViewedResult | undefined): ContentPart {
  const called = `I called the tool ${renderToolName(call)} with these arguments:\n${call.argumentsText.trim() || '{}'}`;
  if (!result) return text(`${called}\nThere is no result of it.`);
  return text(`${called}\nIt returned${result.isError ? ' an error' : ''}:`);
}

/** The local files that a turn links to, outside comments and code. */
export function attachedLinks(chatText: string, turn: Turn): readonly AttachedLink[] {
  return localLinks(turnBody(chatText, turn)).map(({ target, offset, end }) => ({
    target,
    start: turn.bodyStart + offset,
    end: turn.bodyStart + end,
    // Counted when somebody asks: in a long chat it takes time.
    line: () => lineOf(chatText, turn.bodyStart + offset),
  }));
}

function lineOf(chatText: string, offset: number): number {
  return chatText.slice(0, offset).split('\n').length;
}
