import type { Token } from 'markdown-it';
import { readCallInfo, readToolName } from '../chat/format/calls.ts';
import type { Role } from '../chat/format/marker.ts';
import { isHarmless } from './inert.ts';
import { readLinks } from './links.ts';

/** The tokens that only chats have, and what their `meta` holds. */
export interface CallMeta {
  readonly name: string;
  readonly isPartial: boolean;
}

/** A longer text of a tool is folded. */
const MAX_SHOWN_LINES = 14;
const MAX_SHOWN_CHARS = 1500;

/** Names what the tokens of a turn mean in a chat. They are the turn's own and are changed in place. */
export function readTokens(tokens: Token[], role: Role): { tokens: Token[]; time?: string } {
  let time: string | undefined;
  const read = tokens.filter((token, index) => {
    if (token.type === 'inline') {
      const saved = readLinks(token.children ?? [], role);
      time ??= saved;
    }
    if (token.type === 'blockquote_open') readQuote(token, tokens[index + 2]);
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

function readQuote(quote: Token, first: Token | undefined): void {
  if (first?.type === 'inline' && first.content.startsWith('⚠')) quote.attrJoin('class', 'filechat-warning');
}

function readFence(token: Token, role: Role): void {
  const info = token.info.trim();
  // Formulas are drawn on this machine by an extension of the editor.
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

/** Lines that only close what a reply left open. */
function isClosingCode(token: Token, role: Role): boolean {
  return (
    role === 'assistant' && token.type === 'filechat_code' && token.info === 'end' && token.content === ''
  );
}

/** As a reply has it; what writes replies is too much to load for this line. */
const REASONING_HEAD = '<details><summary>Reasoning</summary>';

const FORMAT = /<(\/?)(b|i|em|strong|u|s)\s*>/gi;

/** A browser would go on with what a turn leaves open, such as bold text, in all the turns below it. */
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

/** `charts.bar` of a marker `# %% tool charts.bar c1`. */
export function toolOfMarker(words: string): string {
  const [name = ''] = words.split(/[ \t]/);
  const read = readToolName(name);
  return read ? `${read.server}.${read.tool}` : words;
}
