import { FenceReader } from './fence.ts';
import { eachLine, type Line } from './lines.ts';
import { type Marker, type Role, readMarker } from './marker.ts';
import { readCallInfo, type WrittenCall } from './toolCall.ts';

export interface Chat {
  /** The text between the `---` lines at the top. */
  readonly frontMatter?: string;
  readonly turns: readonly Turn[];
  readonly problems: readonly Problem[];
  /** True when the last turn leaves a code fence open: whatever is appended would be code. */
  readonly endsInFence: boolean;
}

export interface Turn {
  readonly role: Role;
  /** What follows the role on the marker's line. */
  readonly words: string;
  readonly start: number;
  readonly bodyStart: number;
  /** Where the next turn begins, or the file ends. */
  readonly end: number;
  /** The calls of a user or an assistant; a tool's text holds none, whatever it looks like. */
  readonly calls: readonly WrittenCall[];
}

export interface Problem {
  readonly offset: number;
  readonly message: string;
}

/** What a chat's text means. Never throws: what cannot be read is a problem, and the rest is read. */
export function parseChat(text: string): Chat {
  const front = readFrontMatter(text);
  const problems: Problem[] = [];
  const turns: Turn[] = [];
  const fences = new FenceReader();
  let turn = new OpenTurn(text, { role: 'user', words: '' }, front.end, front.end);
  const close = (end: number) => {
    if (!turn.isNobodys(end)) turns.push(turn.close(end));
    problems.push(...turn.problems);
  };
  for (const line of eachLine(text, front.end)) {
    const marker = fences.hidesMarkers ? undefined : readMarker(line.text);
    if (marker) {
      fences.atMarker();
      close(line.start);
      turn = new OpenTurn(text, marker, line.start, line.next);
      continue;
    }
    const state = fences.step(line.text);
    if (state === 'opened' && fences.open && !fences.open.contained) turn.fenceOpened(fences.open.info, line);
    else if (state === 'closed') turn.fenceClosed(line);
  }
  close(text.length);
  if (fences.hidesMarkers) {
    problems.push({ offset: turn.bodyStart, message: 'A code fence in this turn is never closed.' });
  }
  const frontMatter = front.text === undefined ? {} : { frontMatter: front.text };
  return { ...frontMatter, turns, problems, endsInFence: fences.hidesMarkers };
}

export function turnBody(text: string, turn: Turn): string {
  return text.slice(turn.bodyStart, turn.end);
}

type OpenCall = Omit<WrittenCall, 'end' | 'argumentsText' | 'closed'> & { readonly bodyStart: number };

class OpenTurn {
  readonly bodyStart: number;
  readonly problems: Problem[] = [];
  readonly #text: string;
  readonly #marker: Marker;
  readonly #start: number;
  readonly #calls: WrittenCall[] = [];
  #call: OpenCall | undefined;

  constructor(text: string, marker: Marker, start: number, bodyStart: number) {
    this.#text = text;
    this.#marker = marker;
    this.#start = start;
    this.bodyStart = bodyStart;
  }

  /** Text above the first marker is the user's; white space there is nobody's. */
  isNobodys(end: number): boolean {
    return this.#start === this.bodyStart && this.#text.slice(this.#start, end).trim() === '';
  }

  fenceOpened(info: string, line: Line): void {
    if (this.#marker.role !== 'user' && this.#marker.role !== 'assistant') return;
    const read = readCallInfo(info);
    if (typeof read === 'string') this.problems.push({ offset: line.start, message: read });
    else if (read) {
      const infoEnd = line.start + line.text.trimEnd().length;
      this.#call = { ...read, start: line.start, infoEnd, bodyStart: line.next };
    }
  }

  fenceClosed(line: Line): void {
    this.#endCall(line.start, line.next, true);
  }

  close(end: number): Turn {
    this.#endCall(end, end, false);
    return { ...this.#marker, start: this.#start, bodyStart: this.bodyStart, end, calls: this.#calls };
  }

  #endCall(bodyEnd: number, end: number, closed: boolean): void {
    if (!this.#call) return;
    const { bodyStart, ...call } = this.#call;
    this.#calls.push({ ...call, end, closed, argumentsText: this.#text.slice(bodyStart, bodyEnd) });
    this.#call = undefined;
  }
}

const FRONT_MATTER = /^---[ \t]*\r?\n([\s\S]*?)^---[ \t]*(?:\r?\n|$)/m;

function readFrontMatter(text: string): { readonly text?: string; readonly end: number } {
  const match = text.startsWith('---') ? FRONT_MATTER.exec(text) : null;
  if (match?.index !== 0) return { end: 0 };
  return { text: match[1] ?? '', end: match[0].length };
}
