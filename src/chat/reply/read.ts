import { eachLine, trimBlankLines } from '../../base/lines.ts';
import type { ProviderMetadata } from '../../ports/models.ts';
import type { Asset } from '../../ports/results.ts';
import type { ToolName } from '../../ports/tools.ts';
import { readAssetLink } from '../format/assetLink.ts';
import type { WrittenCall } from '../format/callInfo.ts';
import { renderMarker, type Turn } from '../format/chat.ts';
import { FenceReader, UNNAMED_CALL } from '../format/fence.ts';
import { parseChat } from '../format/parse.ts';
import { checksum, readReasoning, readReplyText } from './escapeReply.ts';
import {
  type MetadataNote,
  mergeMetadata,
  OWN_CALL_INFO,
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
  | { readonly kind: 'file'; readonly asset: Asset; readonly metadata?: ProviderMetadata }
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
    } else if (piece.kind === 'file') {
      // Only the user gets drafts.
      if (!piece.isDraft) parts.push({ kind: 'file', asset: piece.asset });
    } else if (piece.kind === 'call') {
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

interface TextPiece {
  readonly kind: 'text';
  readonly lines: string[];
}

/** Consecutive lines of a reply, as in the file. */
export type ReplyPiece =
  | TextPiece
  /** `closed` is false if the turn was cut inside the fence. */
  | { readonly kind: 'reasoning'; readonly lines: string[]; closed: boolean }
  /** A call that the provider ran. The model does not get it back. */
  | { readonly kind: 'ownCall'; readonly name: string; readonly lines: string[]; closed: boolean }
  | { readonly kind: 'metadata'; readonly note: MetadataNote }
  /** `isDraft`: it is folded with the reasoning. */
  | { readonly kind: 'file'; readonly asset: Asset; readonly isDraft: boolean }
  | { readonly kind: 'call'; readonly call: WrittenCall };

/** Splits a reply into pieces, without notes and partial calls. */
export function splitReply(
  body: string,
  calls: readonly WrittenCall[] = findCalls(body),
): readonly ReplyPiece[] {
  const pieces: ReplyPiece[] = [];
  const fences = new FenceReader(true);
  /** The open reasoning, a call of the provider, or a partial call, which is dropped. */
  let own: Extract<ReplyPiece, { kind: 'reasoning' | 'ownCall' }> | undefined;
  let call = 0;
  let isDraft = false;
  /** A call of chat.md that cannot be read. If it has no end, it broke off and is dropped. */
  let unread: TextPiece | undefined;
  for (const { text: line, start } of eachLine(body)) {
    while ((calls[call]?.end ?? Number.POSITIVE_INFINITY) <= start) call += 1;
    const current = calls[call];
    const isInCall = current !== undefined && start >= current.start;
    if (isInCall || readCut(line)) {
      own = undefined;
      fences.reset();
      if (!isInCall) pieces.push({ kind: 'text', lines: [] });
      else if (start === current.start) addCall(pieces, current, line);
      continue;
    }
    const state = fences.step(line);
    const [info, name = ''] =
      state === 'opened' && !fences.open?.contained ? (fences.open?.info.split(/\s/) ?? []) : [];
    if (own && state === 'closed') {
      own.closed = true;
      own = undefined;
    } else if (own) own.lines.push(line);
    else if (info === REASONING_INFO || info === 'tool_call_partial') {
      own = { kind: 'reasoning', lines: [], closed: false };
      if (info === REASONING_INFO) pieces.push(own);
    } else if (info === OWN_CALL_INFO) {
      own = { kind: 'ownCall', name, lines: [], closed: false };
      dropHead(pieces.at(-1));
      pieces.push(own);
    } else {
      if (info === UNNAMED_CALL && fences.open?.info === UNNAMED_CALL) unread = beginText(pieces);
      if (state === 'outside' && (line === REASONING_HEAD || line === REASONING_FOOT)) {
        isDraft = line === REASONING_HEAD;
        continue;
      }
      addLine(pieces, line, state === 'outside' ? { isDraft } : undefined);
      if (unread && state === 'closed') unread = undefined;
    }
  }
  return unread ? pieces.filter((piece) => piece !== unread) : pieces;
}

/** The line above a call of the provider. */
function dropHead(piece: ReplyPiece | undefined): void {
  if (piece?.kind !== 'text') return;
  const at = piece.lines.findLastIndex((line) => line.trim() !== '');
  if (/^<details><summary>.*<\/summary>$/.test(piece.lines[at] ?? '')) piece.lines.splice(at);
}

function beginText(pieces: ReplyPiece[]): TextPiece {
  const piece: TextPiece = { kind: 'text', lines: [] };
  pieces.push(piece);
  return piece;
}

function addCall(pieces: ReplyPiece[], call: WrittenCall, firstLine: string): void {
  if (/^[ \t]*<tool_call>/.test(firstLine)) dropGluedFence(pieces.at(-1));
  pieces.push({ kind: 'call', call });
}

/** Some models began the fence of a call at the end of a sentence. */
function dropGluedFence(piece: ReplyPiece | undefined): void {
  const last = piece?.kind === 'text' ? piece.lines.pop() : undefined;
  if (last !== undefined && piece?.kind === 'text')
    piece.lines.push(last.replace(/([^`])`{3,}[\w-]*[ \t]*$/, '$1'));
}

/** Only a line outside of code can be a note or a file. */
function addLine(
  pieces: ReplyPiece[],
  line: string,
  outside: { readonly isDraft: boolean } | undefined,
): void {
  const note = outside && readMetadata(line);
  const asset = outside && readAssetLink(line, 'model');
  const last = pieces.at(-1);
  if (note) pieces.push({ kind: 'metadata', note });
  else if (asset) pieces.push({ kind: 'file', asset, isDraft: outside.isDraft });
  else if (last?.kind === 'text') last.lines.push(line);
  else pieces.push({ kind: 'text', lines: [line] });
}

/** The model sees exactly those calls that would run. */
function findCalls(body: string): readonly WrittenCall[] {
  const [turn] = parseChat(`${renderMarker('assistant')}\n${body}`).turns;
  return turn ? callsInBody(turn) : [];
}
