import { eachLine, type Line } from '../../base/lines.ts';
import { type Cut, readCut } from '../reply/notes.ts';
import { readCallInfo, readSentMark, type SentMark, type WrittenCall } from './callInfo.ts';
import { type Chat, type ChatProblem, type Marker, readMarker, type Turn } from './chat.ts';
import { commentsOfTurn } from './comments.ts';
import { FenceReader } from './fence.ts';
import {
  isPreamble,
  type OpenFence,
  readXmlCall,
  resolveXmlCalls,
  type XmlBlock,
  XmlBlockFinder,
  type XmlCall,
} from './legacy.ts';
import { countUpTo, isWithin, type Region, shiftRegions } from './textEdit.ts';

/** A parse result that is valid up to `end`, where a user, assistant or system turn begins. */
interface KnownStart {
  readonly chat: Omit<Chat, 'endsInFence'>;
  readonly end: number;
}

/** Never throws: unreadable parts are reported as problems. */
export function parseChat(text: string, known?: KnownStart): Chat {
  const front = known ? { settings: known.chat, end: known.end } : readFrontMatter(text);
  const problems: ChatProblem[] = [...(known?.chat.problems ?? [])];
  const turns: Turn[] = [...(known?.chat.turns ?? [])];
  const xmlCalls = new Map<number, readonly XmlCall[]>();
  const fences = new FenceReader();
  const blocks = new XmlBlockFinder(text);
  let preamble: Pick<Chat, 'preamble' | 'preambleStart'> = {};
  let next = 0;
  let turn = new TurnReader(text, { role: 'user', markerText: '' }, front.end, front.end);
  let fenceStart = front.end;
  const close = (end: number) => {
    const unmarked = turn.unmarkedText(end);
    if (unmarked !== undefined && isPreamble(unmarked)) {
      preamble = { preamble: unmarked, preambleStart: front.end };
    } else if (unmarked?.trim() !== '') {
      const closed = turn.close(end);
      if (turn.xmlCalls.length > 0) xmlCalls.set(turns.length, turn.xmlCalls);
      turns.push(closed);
    }
    problems.push(...turn.problems);
  };
  for (const line of eachLine(text, front.end, (first) => fences.stepFast(first))) {
    if (line.start < next) continue;
    const marker = fences.hidesMarkers ? undefined : readMarker(line.text);
    if (marker) {
      fences.reset(marker.role === 'assistant');
      close(line.start);
      turn = new TurnReader(text, marker, line.start, line.next);
      continue;
    }
    const { open } = fences;
    next = turn.readLine(line, fences, blocks);
    if (fences.open !== open) fenceStart = line.start;
  }
  close(text.length);
  problems.push(...resolveXmlCalls(text, turns, xmlCalls));
  if (fences.hidesMarkers) {
    problems.push({ offset: fenceStart, message: 'A code fence in this turn is never closed.' });
  }
  problems.sort((a, b) => a.offset - b.offset);
  return { ...front.settings, ...preamble, turns, problems, endsInFence: fences.hidesMarkers };
}

export function turnBody(text: string, turn: Turn): string {
  return text.slice(turn.bodyStart, turn.end);
}

export function isEmptyTurn(text: string, turn: Turn): boolean {
  return turnBody(text, turn).trim() === '';
}

/** All comments of a chat; they are not sent to the model. */
export function commentsOfChat(text: string): readonly Region[] {
  if (!text.includes('<!--')) return [];
  return parseChat(text).turns.flatMap((turn) =>
    shiftRegions(commentsOfTurn(turnBody(text, turn), turn.role), turn.bodyStart),
  );
}

/** The turn that contains an offset. */
export function turnAt({ turns }: Pick<Chat, 'turns'>, offset: number): Turn | undefined {
  return turns[countUpTo(turns, offset, ({ start }) => start) - 1];
}

type UnclosedCall = Omit<WrittenCall, 'end' | 'argumentsText' | 'closed'> & { readonly bodyStart: number };

class TurnReader {
  readonly bodyStart: number;
  problems: ChatProblem[] = [];
  xmlCalls: XmlCall[] = [];
  readonly #text: string;
  readonly #marker: Marker;
  readonly #start: number;
  #calls: WrittenCall[] = [];
  #call: UnclosedCall | undefined;
  #cut: Cut | undefined;
  #sent: SentMark[] = [];
  #fence = { fenceStart: 0, fenceBodyStart: 0 };

  constructor(text: string, marker: Marker, start: number, bodyStart: number) {
    this.#text = text;
    this.#marker = marker;
    this.#start = start;
    this.bodyStart = bodyStart;
  }

  /** The text above the first marker; `undefined` for a turn with a marker. */
  unmarkedText(end: number): string | undefined {
    return this.#start === this.bodyStart ? this.#text.slice(this.#start, end) : undefined;
  }

  /** Reads a line of the body and returns where to continue. */
  readLine(line: Line, fences: FenceReader, blocks: XmlBlockFinder): number {
    const block = fences.inComment ? undefined : this.#findXml(blocks, line, fences.open);
    if (block || this.#readCut(line)) {
      // A reply that was cut by a crash must not turn the rest of the file into code.
      fences.reset();
      return block?.end ?? line.next;
    }
    if (!fences.open && !fences.inComment) this.#readSent(line);
    const state = fences.step(line.text);
    if (state === 'opened' && fences.open && !fences.open.contained) {
      this.#openFence(fences.open.info, line);
    } else if (state === 'closed') this.#endCall(line.start, line.next, true);
    return line.next;
  }

  /** Reads a call or result of chat.md as a whole if one begins at this line. */
  #findXml(finder: XmlBlockFinder, line: Line, fence: OpenFence['fence']): XmlBlock | undefined {
    const { role, markerText } = this.#marker;
    const tag =
      role === 'assistant' ? 'tool_call' : role === 'tool' && markerText === '' ? 'tool_result' : undefined;
    const block = tag && finder.find(tag, line, { fence, ...this.#fence });
    if (!block || tag !== 'tool_call') return block;
    const call = readXmlCall(this.#text, block, fence?.info);
    if (call) this.xmlCalls.push(call);
    // The fence's info string rightly names no tool.
    if (fence && this.problems.at(-1)?.offset === block.start) this.problems.pop();
    return block;
  }

  #openFence(info: string, line: Line): void {
    this.#fence = { fenceStart: line.start, fenceBodyStart: line.next };
    if (this.#marker.role !== 'user' && this.#marker.role !== 'assistant') return;
    const read = readCallInfo(info);
    if (typeof read === 'string') this.problems.push({ offset: line.start, message: read });
    else if (read) {
      const infoEnd = line.start + line.text.trimEnd().length;
      this.#call = { ...read, start: line.start, infoEnd, bodyStart: line.next };
    }
  }

  #endCall(bodyEnd: number, end: number, closed: boolean): void {
    if (!this.#call) return;
    const { bodyStart, ...call } = this.#call;
    this.#calls.push({ ...call, end, closed, argumentsText: this.#text.slice(bodyStart, bodyEnd) });
    this.#call = undefined;
  }

  get #isReply(): boolean {
    return this.#marker.role === 'assistant';
  }

  /** Only assistant turns can be cut; elsewhere such a line is text. */
  #readCut(line: Line): boolean {
    const cut = this.#isReply ? readCut(line.text) : undefined;
    if (!cut) return false;
    this.#endCall(line.start, line.start, false);
    this.#cut = cut;
    return true;
  }

  /** Such a line has a meaning only in user and assistant turns. */
  #readSent(line: Line): void {
    const { role } = this.#marker;
    const mark = role === 'user' || role === 'assistant' ? readSentMark(line.text, line.start) : undefined;
    if (mark) this.#sent.push(mark);
  }

  close(end: number): Turn {
    this.#endCall(end, end, false);
    this.#dropCommented(end);
    return {
      ...this.#marker,
      start: this.#start,
      bodyStart: this.bodyStart,
      end,
      calls: this.#calls,
      ...(this.#cut && { cut: this.#cut }),
      ...(this.#sent.length > 0 && { sent: this.#sent }),
    };
  }

  /** Commented calls do not run. The fence reader only sees comments that begin a line. */
  #dropCommented(end: number): void {
    if (this.#calls.length + this.xmlCalls.length + this.problems.length === 0) return;
    const found = commentsOfTurn(this.#text.slice(this.bodyStart, end), this.#marker.role);
    if (found.length === 0) return;
    const comments = shiftRegions(found, this.bodyStart);
    const blocks = this.xmlCalls.map(({ call }) => call);
    // A comment inside a chat.md call is part of the call.
    const hiding = comments.filter(({ start }) => !isWithin(blocks, start));
    this.#calls = this.#calls.filter(({ start }) => !isWithin(hiding, start));
    this.xmlCalls = this.xmlCalls.filter(({ call }) => !isWithin(hiding, call.start));
    this.problems = this.problems.filter(({ offset }) => !isWithin(hiding, offset));
  }
}

const FRONT_MATTER = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m;

function readFrontMatter(text: string) {
  const match = text.startsWith('---') ? FRONT_MATTER.exec(text) : null;
  if (match?.index !== 0) return { settings: {}, end: 0 };
  // Unclosed front matter must not be closed by a line inside a turn.
  if (match[1]?.split(/\r?\n/).some((line) => readMarker(line))) return { settings: {}, end: 0 };
  const settings = { frontMatter: match[1] ?? '', frontMatterStart: text.indexOf('\n') + 1 };
  return { settings, end: match[0].length };
}

/** Comparing slices is many times faster than `startsWith` or a loop. */
const COMPARED_CHARS = 1 << 16;

/** Parses a chat repeatedly while it is edited: the result of `parseChat`, but turns before the edit are reused. */
export class ChatReader {
  #text = '';
  #chat: Chat = parseChat('');

  read(text: string): Chat {
    if (text === this.#text) return this.#chat;
    this.#chat = parseChat(text, this.#knownStart(text));
    this.#text = text;
    return this.#chat;
  }

  #knownStart(text: string): KnownStart | undefined {
    const { turns, problems, ...chat } = this.#chat;
    // Any later line of dashes would close front matter that is still open.
    if (chat.frontMatter === undefined && this.#text.startsWith('---')) return undefined;
    const same = samePrefix(this.#text, text);
    // The last turn whose marker line is complete and unchanged. Turns do not depend on the body of others, except
    // that calls depend on the tool turns after them; so it is not a tool turn.
    const at = turns.findLastIndex(
      ({ role, start, bodyStart }) =>
        role !== 'tool' && start < bodyStart && bodyStart <= same && this.#text[bodyStart - 1] === '\n',
    );
    const end = turns[at]?.start;
    if (end === undefined) return undefined;
    const before = problems.filter(({ offset }) => offset < end);
    return { chat: { ...chat, turns: turns.slice(0, at), problems: before }, end };
  }
}

function samePrefix(a: string, b: string): number {
  const end = Math.min(a.length, b.length);
  let same = 0;
  for (let size = COMPARED_CHARS; size > 0; size >>= 1) {
    while (same + size <= end && a.slice(same, same + size) === b.slice(same, same + size)) same += size;
  }
  return same;
}
