import { trimBlankLines } from '../../base/lines.ts';
import { readReplyText } from './escape.ts';
import { ReplyLines } from './lines.ts';
import { type ReplyPiece, readReply, splitReply } from './read.ts';
import { REASONING_FENCE, REASONING_FOOT, REASONING_HEAD } from './reasoning.ts';

/** What is there of a reply that was cut. */
export interface PartialReply {
  /** All the text of the reply, without reasoning, calls and notes. */
  readonly text: string;
  readonly endsInCode: boolean;
  /** The text since the last reasoning or call, where new text goes on in the middle of the line. */
  readonly tail: string;
  /** Closes the reasoning that the reply ends in, if it does. */
  readonly unclosed: string;
  readonly isEmpty: boolean;
}

/** Reads the body of a turn up to where it was cut. */
export function readPartialReply(written: string): PartialReply {
  const body = written.replaceAll('\r\n', '\n');
  const pieces = splitReply(body);
  const last = pieces.at(-1);
  // Where the last line is empty, it is a line all the same.
  const lines = last?.kind === 'text' ? last.lines.join('\n') + (body.endsWith('\n') ? '\n' : '') : '';
  const tail = lines.trim() === '' ? '' : withoutBlankLinesAbove(readReplyText(lines));
  const texts = readReply(body).flatMap((part) =>
    part.kind === 'text' && part.text !== '' ? [part.text] : [],
  );
  const before = tail === '' ? texts : [...texts.slice(0, -1), tail];
  const probe = new ReplyLines('read');
  probe.push(`${lines}\n`);
  return {
    text: before.join('\n\n'),
    endsInCode: probe.inFence,
    tail,
    unclosed: closingOf(body, pieces),
    isEmpty: body.trim() === '',
  };
}

/** All of its end stays, because the model goes on from exactly there. */
function withoutBlankLinesAbove(text: string): string {
  const words = trimBlankLines(text);
  return text.slice(text.indexOf(words));
}

function closingOf(body: string, pieces: readonly ReplyPiece[]): string {
  const last = pieces.findLast((piece) => piece.kind !== 'metadata' && !isBlank(piece));
  const end = body.trimEnd();
  if (last?.kind !== 'reasoning' || !body.includes(REASONING_HEAD) || end.endsWith(`\n${REASONING_FOOT}`)) {
    return '';
  }
  return last.closed ? `\n\n${REASONING_FOOT}` : `\n${REASONING_FENCE}\n\n${REASONING_FOOT}`;
}

function isBlank(piece: ReplyPiece): boolean {
  return piece.kind === 'text' && piece.lines.join('').trim() === '';
}
