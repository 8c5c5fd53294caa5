import { eachLine, type Line } from '../../base/lines.ts';
import type { Turn } from '../format/chat.ts';
import { FenceReader } from '../format/fence.ts';
import type { Region } from '../format/textEdit.ts';
import { OWN_CALL_INFO, REASONING_HEAD, readCut } from '../reply/notes.ts';
import { renderedText } from './title.ts';

/** The visible structure of a turn, with offsets in the chat. */
export interface TurnShape {
  readonly label?: string;
  readonly headings: readonly Heading[];
  readonly details: readonly Details[];
  readonly assets: number;
}

export interface Heading {
  readonly level: number;
  readonly label: string;
  readonly start: number;
}

/** A `<details>` block, from the start of its first line to the end of its last line. */
interface Details extends Region {
  readonly kind: 'reasoning' | 'ownCall' | 'details';
}

const HEADING = /^ {0,3}(#{1,6})[ \t]+(\S.*)$/;
const ASSET_LINK = /^!?\[Tool generated (?:image|audio|file) \d/;
const COMMENT = /<!--.*?(?:-->|$)/g;
const RULE = /^ {0,3}(?:[-=*_] *){3,}$/;

/** Caches the shape of each turn. `ChatReader` reuses the turn objects before an edit. */
export class TurnShapes {
  readonly #known = new WeakMap<Turn, TurnShape>();

  of(text: string, turn: Turn): TurnShape {
    const known = this.#known.get(turn);
    if (known) return known;
    const shape = new ShapeReader(turn).read(text);
    this.#known.set(turn, shape);
    return shape;
  }
}

class ShapeReader {
  readonly #turn: Turn;
  readonly #fences: FenceReader;
  readonly #headings: Heading[] = [];
  readonly #details: Details[] = [];
  readonly #openDetails: Line[] = [];
  readonly #ownCalls = new Set<Line>();
  #label: string | undefined;
  #labelInCode: string | undefined;
  #assets = 0;

  constructor(turn: Turn) {
    this.#turn = turn;
    this.#fences = new FenceReader(turn.role === 'assistant');
  }

  read(text: string): TurnShape {
    const { calls, bodyStart, end } = this.#turn;
    let nextCall = 0;
    // Once the label is found, most lines do not affect the shape.
    const skips = (firstCode: number) => this.#label !== undefined && this.#fences.stepFast(firstCode);
    for (const line of eachLine(text, bodyStart, skips)) {
      if (line.start >= end) break;
      while ((calls[nextCall]?.end ?? end) <= line.start) nextCall += 1;
      if (line.start < (calls[nextCall]?.start ?? end)) this.#readLine(line);
    }
    const label = this.#label ?? this.#labelInCode;
    return {
      ...(label === undefined ? {} : { label }),
      headings: this.#headings,
      details: this.#details.sort((a, b) => a.start - b.start),
      assets: this.#assets,
    };
  }

  #readLine(line: Line): void {
    if (this.#turn.role === 'assistant' && readCut(line.text)) {
      this.#fences.reset();
      return;
    }
    const wasInComment = this.#fences.inComment;
    const state = this.#fences.step(line.text);
    const last = this.#openDetails.at(-1);
    if (last && state === 'opened' && this.#fences.open?.info.startsWith(OWN_CALL_INFO))
      this.#ownCalls.add(last);
    if (state === 'inside' && this.#openDetails.length === 0) this.#labelInCode ??= renderedText(line.text);
    if (state === 'outside' && !wasInComment && !this.#fences.inComment) this.#readText(line);
  }

  #readText(line: Line): void {
    if (this.#turn.role === 'tool') {
      if (ASSET_LINK.test(line.text)) this.#assets += 1;
    } else if (this.#readDetails(line)) return;
    if (this.#openDetails.length > 0) return;
    const text = line.text.replace(COMMENT, '');
    const heading = this.#turn.role === 'assistant' ? HEADING.exec(text) : null;
    const title =
      heading?.[2] === undefined ? undefined : renderedText(heading[2].replace(/[ \t]+#+[ \t]*$/, ''));
    if (title !== undefined) {
      this.#headings.push({ level: heading?.[1]?.length ?? 1, label: title, start: line.start });
    }
    if (this.#label === undefined && !RULE.test(text)) this.#label = renderedText(text);
  }

  #readDetails(line: Line): boolean {
    if (/^<details\b/.test(line.text)) {
      this.#openDetails.push(line);
      return true;
    }
    if (!line.text.startsWith('</details>')) return false;
    const first = this.#openDetails.pop();
    if (first) {
      const end = line.start + line.text.length;
      this.#details.push({ start: first.start, end, kind: this.#kindOf(first) });
    }
    return true;
  }

  #kindOf(first: Line): Details['kind'] {
    if (first.text.trimEnd() === REASONING_HEAD) return 'reasoning';
    return this.#ownCalls.has(first) ? 'ownCall' : 'details';
  }
}
