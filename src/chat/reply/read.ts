import { eachLine, type Line, trimBlankLines } from '../../base/lines.ts';
import type { ProviderMetadata } from '../../ports/models.ts';
import type { ToolName } from '../../ports/tools.ts';
import type { WrittenCall } from '../format/calls.ts';
import { renderMarker, type Turn } from '../format/chat.ts';
import { FenceReader } from '../format/fence.ts';
import { parseChat } from '../format/parse.ts';
import { checksum, readReasoning, readReplyText } from './escape.ts';
import {
  type MetadataNote,
  mergeMetadata,
  REASONING_FOOT,
  REASONING_HEAD,
  REASONING_INFO,
  readCut,
  readMetadata,
} from './notes.ts';

export type ReplyPart =
  | { readonly kind: 'text'; readonly text: string; readonly metadata?: ProviderMetadata }
  | {
      readonly kind: 'reasoning';
      readonly text: string;
      readonly metadata?: ProviderMetadata;
      /** False if the text was edited since the metadata was written. */
      readonly intact: boolean;
    }
  | (ToolName & {
      readonly kind: 'call';
      readonly id?: string;
      readonly argumentsText: string;
      readonly metadata?: ProviderMetadata;
    });

export function callsInBody({ calls, bodyStart }: Pick<Turn, 'calls' | 'bodyStart'>): readonly WrittenCall[] {
  return calls.map((call) => ({
    ...call,
    start: call.start - bodyStart,
    end: call.end - bodyStart,
    infoEnd: call.infoEnd - bodyStart,
  }));
}

/**
 * Reads the body of an assistant turn. Text that the user wrote into it is read as text. Whether a block is a call
 * can depend on later turns, so pass the calls of the parsed turn (`callsInBody`) if they are known.
 */
export function readReply(body: string, calls?: readonly WrittenCall[]): readonly ReplyPart[] {
  const parts: ReplyPart[] = [];
  const pieces = splitReply(body, calls);
  for (const [at, piece] of pieces.entries()) {
    if (piece.kind === 'metadata') addMetadata(parts, piece.note, pieces[at - 1]?.kind === 'metadata');
    else if (piece.kind === 'text') {
      const text = trimBlankLines(readReplyText(trimBlankLines(piece.lines.join('\n'))));
      if (text.trim() !== '') parts.push({ kind: 'text', text });
    } else if (piece.kind === 'reasoning') {
      parts.push({ kind: 'reasoning', text: readReasoning(piece.lines), intact: true });
    } else {
      const { server, tool, id, argumentsText } = piece.call;
      parts.push({ kind: 'call', server, tool, ...(id === undefined ? {} : { id }), argumentsText });
    }
  }
  return parts;
}

function addMetadata(parts: ReplyPart[], { of, metadata }: MetadataNote, goesOn: boolean): void {
  const last = parts.at(-1);
  // Hidden reasoning consists of metadata only.
  if (
    of === checksum('') &&
    !(last?.kind === 'reasoning' && last.text === '' && (goesOn || !last.metadata))
  ) {
    parts.push({ kind: 'reasoning', text: '', metadata, intact: true });
    return;
  }
  if (of === '' || !last) {
    parts.push({ kind: 'text', text: '', metadata });
    return;
  }
  const merged = { ...last, metadata: mergeMetadata(last.metadata, metadata) };
  const isIntact = last.kind !== 'reasoning' || (last.intact && of === checksum(last.text));
  parts[parts.length - 1] = merged.kind === 'reasoning' ? { ...merged, intact: isIntact } : merged;
}

/** Consecutive lines of a reply, as in the file. */
export type ReplyPiece =
  | { readonly kind: 'text'; readonly lines: string[] }
  /** `closed` is false if the turn was cut inside the fence. */
  | { readonly kind: 'reasoning'; readonly lines: string[]; closed: boolean }
  | { readonly kind: 'metadata'; readonly note: MetadataNote }
  | { readonly kind: 'call'; readonly call: WrittenCall };

/** Splits a reply into pieces, without notes and partial calls. */
export function splitReply(
  body: string,
  calls: readonly WrittenCall[] = findCalls(body),
): readonly ReplyPiece[] {
  const splitter = new ReplySplitter();
  let call = 0;
  for (const line of eachLine(body)) {
    while ((calls[call]?.end ?? Number.POSITIVE_INFINITY) <= line.start) call += 1;
    const current = calls[call];
    if (!current || line.start < current.start) splitter.add(line);
    else if (line.start === current.start) splitter.addCall(current);
  }
  return splitter.pieces;
}

/** The model sees exactly those calls that would run. */
function findCalls(body: string): readonly WrittenCall[] {
  const [turn] = parseChat(`${renderMarker('assistant')}\n${body}`).turns;
  return turn ? callsInBody(turn) : [];
}

class ReplySplitter {
  readonly pieces: ReplyPiece[] = [];
  readonly #fences = new FenceReader(true);
  /** The open reasoning or partial call; lines of a partial call are dropped. */
  #own: { readonly reasoning?: Extract<ReplyPiece, { kind: 'reasoning' }> } | undefined;

  addCall(call: WrittenCall): void {
    this.#own = undefined;
    this.#fences.reset();
    this.pieces.push({ kind: 'call', call });
  }

  add({ text: line }: Line): void {
    if (readCut(line)) {
      this.#own = undefined;
      this.#fences.reset();
      this.#text(true);
      return;
    }
    const state = this.#fences.step(line);
    if (this.#own) this.#addToOwn(line, state === 'closed');
    else if (state === 'opened' && this.#opensOwn()) return;
    else if (state === 'outside' && this.#isNote(line)) return;
    else this.#text().push(line);
  }

  #addToOwn(line: string, isEnd: boolean): void {
    const reasoning = this.#own?.reasoning;
    if (!isEnd) reasoning?.lines.push(line);
    else {
      if (reasoning) reasoning.closed = true;
      this.#own = undefined;
    }
  }

  #opensOwn(): boolean {
    const { info = '', contained = false } = this.#fences.open ?? {};
    const [word] = info.split(/\s/);
    if (contained || (word !== REASONING_INFO && word !== 'tool_call_partial')) return false;
    if (word === REASONING_INFO) {
      const reasoning = { kind: 'reasoning' as const, lines: [], closed: false };
      this.pieces.push(reasoning);
      this.#own = { reasoning };
    } else this.#own = {};
    return true;
  }

  #isNote(line: string): boolean {
    const note = readMetadata(line);
    if (note) this.pieces.push({ kind: 'metadata', note });
    return note !== undefined || line === REASONING_HEAD || line === REASONING_FOOT;
  }

  /** The lines of the current text piece, or of a new one. */
  #text(isNew = false): string[] {
    const last = this.pieces.at(-1);
    if (last?.kind === 'text' && !isNew) return last.lines;
    const lines: string[] = [];
    this.pieces.push({ kind: 'text', lines });
    return lines;
  }
}
