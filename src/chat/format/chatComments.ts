import { findComments, findReplyComments, type Region } from './comments.ts';
import type { Role } from './marker.ts';
import { parseChat, turnBody } from './parse.ts';

export function commentsOfTurn(body: string, role: Role): readonly Region[] {
  if (!body.includes('<!--')) return [];
  return role === 'assistant' ? findReplyComments(body) : findComments(body);
}

/** All comments of a chat; they are not sent to the model. */
export function commentsOfChat(text: string): readonly Region[] {
  if (!text.includes('<!--')) return [];
  return parseChat(text).turns.flatMap((turn) =>
    shifted(commentsOfTurn(turnBody(text, turn), turn.role), turn.bodyStart),
  );
}

export function shifted(regions: readonly Region[], by: number): readonly Region[] {
  return regions.map(({ start, end }) => ({ start: start + by, end: end + by }));
}

/** The part of `text` inside `piece` and outside the regions, which are in order. */
export function textOutside(text: string, piece: Region, regions: readonly Region[]): string {
  const kept: string[] = [];
  let from = piece.start;
  for (const { start, end } of regions) {
    if (end <= from) continue;
    if (start >= piece.end) break;
    kept.push(text.slice(from, Math.max(from, start)));
    from = end;
  }
  return kept.join('') + text.slice(from, Math.max(from, piece.end));
}
