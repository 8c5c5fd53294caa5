import type { Env, MarkdownIt, MarkdownItOptions, Token } from 'markdown-it';
import { eachLine, LineCounter } from '../../base/lines.ts';
import { readCallInfo, readToolName } from '../../chat/format/callInfo.ts';
import type { Chat, Role, Turn } from '../../chat/format/chat.ts';
import { isEmptyTurn } from '../../chat/format/parse.ts';
import { REASONING_HEAD, readCut } from '../../chat/reply/notes.ts';
import { isHarmless } from './inert.ts';
import { readLinks } from './links.ts';
import type { PreviewWords } from './options.ts';

export interface ParsedTurn {
  readonly turn: Turn;
  /** The line of its marker, from 0. */
  readonly line: number;
  /** The note of an interrupted reply divides a turn into two parts. */
  readonly parts: readonly TurnPart[];
  /** The time in the names of its assets. */
  readonly time?: string;
}

export interface TurnPart {
  readonly parsed: ParsedText;
  readonly line: number;
}

interface ParsedText {
  readonly tokens: Token[];
  readonly time?: string;
  /** The first line that the `data-line` attributes of the tokens are based on. */
  markedFor: number;
}

const ROLE = 'filechatRole';

/** The role of the turn that is being parsed. */
export function roleOf(env: unknown): unknown {
  return (env as { readonly [ROLE]?: unknown } | undefined)?.[ROLE];
}

/** Keeps the parsed turns of the last chat, because few change while the user types. */
export class TurnParser {
  readonly #md: MarkdownIt;
  readonly #words: PreviewWords;
  #known = new Map<string, ParsedText>();
  #settings = '';

  constructor(md: MarkdownIt, words: PreviewWords) {
    this.#md = md;
    this.#words = words;
  }

  read(
    source: string,
    { turns }: Chat,
    options: Required<MarkdownItOptions>,
    env: Env | undefined,
  ): ParsedTurn[] {
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
      .filter((turn, index) => index < turns.length - 1 || turn.role !== 'user' || !isEmptyTurn(source, turn))
      .map((turn) => readTurn(source, turn, lines, parse));
    this.#known = used;
    return read;
  }

  #parse(turn: Turn, text: string, env: Env | undefined): ParsedText {
    // Separate references, so that a turn cannot redefine the links of another.
    const tokens = this.#md.parse(text, { ...env, references: {}, [ROLE]: turn.role });
    return { ...readTokens(tokens, turn.role, this.#words), markedFor: 0 };
  }
}

function readTurn(
  source: string,
  turn: Turn,
  lines: LineCounter,
  parse: (turn: Turn, text: string) => ParsedText,
): ParsedTurn {
  const line = lines.lineAt(turn.start);
  const parts = divide(source, turn).map(([start, end]) => ({
    line: lines.lineAt(start),
    parsed: parse(turn, source.slice(start, end)),
  }));
  const time = parts.find(({ parsed }) => parsed.time)?.parsed.time;
  return { turn, line, parts, ...(time && { time }) };
}

/** The note of an interrupted reply also ends an open code block, which Markdown would continue. */
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

/** Scroll synchronization uses the `data-line` attributes. */
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

/** The `meta` of a `filechat_call` token. */
export interface CallMeta {
  readonly name: string;
  readonly isPartial: boolean;
}

/** Longer texts of tools are folded. */
const MAX_SHOWN_LINES = 14;
const MAX_SHOWN_CHARS = 1500;

/** Gives the tokens their meaning in a chat. Changes them in place. */
function readTokens(tokens: Token[], role: Role, words: PreviewWords): { tokens: Token[]; time?: string } {
  let time: string | undefined;
  const read = tokens.filter((token, index) => {
    if (token.type === 'inline') {
      const saved = readLinks(token.children ?? [], role, words);
      time ??= saved;
      if (tokens[index - 2]?.type === 'list_item_open') readTask(token.children ?? []);
    }
    const first = tokens[index + 2];
    if (token.type === 'blockquote_open' && first?.type === 'inline' && first.content.startsWith('⚠')) {
      token.attrJoin('class', 'filechat-warning');
    }
    if (token.type === 'html_block' && token.content.trim() === REASONING_HEAD)
      token.type = 'filechat_reasoning';
    if (token.type === 'mermaidContainer') Object.assign(token, { type: 'filechat_code', info: 'mermaid' });
    if (token.type === 'fence') readFence(token, role);
    return !isClosingCode(token, role);
  });
  const unclosed = closeFormats(tokens);
  const last = read.at(-1);
  if (unclosed !== '' && last) {
    const closing: Token = Object.assign(Object.create(Object.getPrototypeOf(last)), last);
    read.push(
      Object.assign(closing, { type: 'filechat_closing', attrs: null, map: null, content: unclosed }),
    );
  }
  return { tokens: read, ...(role === 'tool' && time && { time }) };
}

/** `[ ]` or `[x]` at the beginning of a list item. */
function readTask(children: Token[]): void {
  const [first] = children;
  const box = first?.type === 'text' ? /^\[([ xX])\]\s+/.exec(first.content) : null;
  if (!first || !box) return;
  first.content = first.content.slice(box[0].length);
  const task: Token = Object.assign(Object.create(Object.getPrototypeOf(first)), first);
  children.unshift(
    Object.assign(task, { type: 'filechat_task', content: '', meta: { isDone: box[1] !== ' ' } }),
  );
}

function readFence(token: Token, role: Role): void {
  const info = token.info.trim();
  // VS Code renders formulas locally.
  if (info === 'math') return;
  token.type = 'filechat_code';
  if (token.level > 0) return;
  if (role === 'user' || role === 'assistant') {
    const meta = readCall(info);
    if (meta) Object.assign(token, { type: 'filechat_call', meta });
  }
  const isLong = token.content.length > MAX_SHOWN_CHARS || countLines(token.content) > MAX_SHOWN_LINES;
  if (role === 'tool' && isLong) token.type = 'filechat_long';
}

function readCall(info: string): CallMeta | undefined {
  const partial = /^tool_call_partial(?:[ \t]+(\S+))?/.exec(info);
  if (partial) return { name: partial[1] ?? '', isPartial: true };
  const call = readCallInfo(info);
  return typeof call === 'object' ? { name: `${call.server}.${call.tool}`, isPartial: false } : undefined;
}

export function countLines(text: string): number {
  return text.trimEnd().split('\n').length;
}

/** A fence that Filechat adds to close an open one. */
function isClosingCode(token: Token, role: Role): boolean {
  return (
    role === 'assistant' && token.type === 'filechat_code' && token.info === 'end' && token.content === ''
  );
}

const FORMAT = /<(\/?)(b|i|em|strong|u|s)\s*>/gi;

/** Closes open formatting tags, which would otherwise apply to all following turns. */
function closeFormats(tokens: readonly Token[]): string {
  const open = new Map<string, number>();
  for (const token of tokens) {
    for (const { type, content } of token.children ?? [token]) {
      if (!type.startsWith('html_') || !isHarmless(content)) continue;
      for (const [, slash, tag = ''] of content.matchAll(FORMAT)) {
        const count = (open.get(tag.toLowerCase()) ?? 0) + (slash === '/' ? -1 : 1);
        open.set(tag.toLowerCase(), Math.max(0, count));
      }
    }
  }
  return [...open].map(([tag, count]) => `</${tag}>`.repeat(count)).join('');
}

/** `charts.bar` for the marker `# %% tool charts.bar c1`. */
export function toolOfMarker(words: string): string {
  const [name = ''] = words.split(/[ \t]/);
  const read = readToolName(name);
  return read ? `${read.server}.${read.tool}` : words;
}
