import type { Env, MarkdownIt, MarkdownItOptions, Token } from 'markdown-it';
import { eachLine, LineCounter } from '../base/lines.ts';
import type { Chat, Turn } from '../chat/format/parse.ts';
import { readCut } from '../chat/reply/notes.ts';
import { readTokens } from './turnTokens.ts';

/** A turn that is ready to be rendered. */
export interface ReadTurn {
  readonly turn: Turn;
  /** The line of its marker, counted from 0. */
  readonly line: number;
  /** Most turns have one part; the note of a reply that was cut divides it. */
  readonly parts: readonly TurnPart[];
  /** When its result was saved, as the names of its files say. */
  readonly time?: string;
}

export interface TurnPart {
  readonly parsed: ParsedText;
  readonly line: number;
}

interface ParsedText {
  readonly tokens: Token[];
  readonly time?: string;
  /** The line of the document for which the tokens are marked now. */
  markedFor: number;
}

/** Parses the turns of chats, and keeps those of the chat that was read last: few change while somebody types. */
export class TurnParser {
  readonly #md: MarkdownIt;
  #known = new Map<string, ParsedText>();
  #settings = '';

  constructor(md: MarkdownIt) {
    this.#md = md;
  }

  read(
    source: string,
    { turns }: Chat,
    options: Required<MarkdownItOptions>,
    env: Env | undefined,
  ): ReadTurn[] {
    const settings = `${options.breaks} ${options.linkify} ${options.typographer}`;
    if (settings !== this.#settings) this.#known.clear();
    this.#settings = settings;
    const used = new Map<string, ParsedText>();
    const parse = (turn: Turn, text: string) => {
      const key = `${turn.role} ${text}`;
      const parsed = this.#known.get(key) ?? used.get(key) ?? this.#parse(turn, text, env);
      used.set(key, parsed);
      return parsed;
    };
    const lines = new LineCounter(source);
    const read = turns
      .filter((turn, index) => index < turns.length - 1 || !isEmptyQuestion(source, turn))
      .map((turn) => readTurn(source, turn, lines, parse));
    this.#known = used;
    return read;
  }

  #parse(turn: Turn, text: string, env: Env | undefined): ParsedText {
    // Each turn has its own references, so that none gives another's links a new target.
    const tokens = this.#md.parse(text, { ...env, references: {} });
    return { ...readTokens(tokens, turn.role), markedFor: 0 };
  }
}

function isEmptyQuestion(source: string, { role, bodyStart, end }: Turn): boolean {
  return role === 'user' && source.slice(bodyStart, end).trim() === '';
}

function readTurn(
  source: string,
  turn: Turn,
  lines: LineCounter,
  parse: (turn: Turn, text: string) => ParsedText,
): ReadTurn {
  const line = lines.lineAt(turn.start);
  const parts = divide(source, turn).map(([start, end]) => ({
    line: lines.lineAt(start),
    parsed: parse(turn, source.slice(start, end)),
  }));
  const time = parts.find(({ parsed }) => parsed.time)?.parsed.time;
  return { turn, line, parts, ...(time && { time }) };
}

/** The note of a cut reply ends code that was left open, which Markdown knows nothing of. */
function divide(source: string, { bodyStart, end, cut }: Turn): readonly (readonly [number, number])[] {
  if (cut) {
    for (const { text, start, next } of eachLine(source.slice(bodyStart, end))) {
      if (!readCut(text)) continue;
      const rest: readonly [number, number] = [bodyStart + next, end];
      return [[bodyStart, bodyStart + start], ...(source.slice(...rest).trim() === '' ? [] : [rest])];
    }
  }
  return [[bodyStart, end]];
}

/** The preview scrolls with the editor by the lines that stand in its elements. */
export function shiftLines({ parsed, line }: TurnPart): Token[] {
  const shift = line - parsed.markedFor;
  if (shift === 0) return parsed.tokens;
  for (const token of parsed.tokens) {
    const marked = token.attrGet('data-line');
    if (marked !== null) token.attrSet('data-line', String(Number(marked) + shift));
  }
  parsed.markedFor = line;
  return parsed.tokens;
}
