import type { MarkdownIt, StateBlock, StateInline } from 'markdown-it';
import { roleOf } from './turns.ts';

/** Rendered by VS Code's own extension for formulas. It has no rules for them while the user has switched it off. */
const INLINE = 'math_inline';
const DISPLAYED = 'math_inline_block';
const BLOCK = 'math_block';

const MAX_BLOCK_LINES = 200;
const MAX_INLINE_CHARS = 4000;

/** Formulas in `\(…\)` and `\[…\]`, as many models write them. Only in replies: elsewhere these are escaped brackets. */
export function addMathRules(md: MarkdownIt): void {
  const isOn = (env: unknown, type: string) =>
    md.renderer.rules[type] !== undefined && roleOf(env) === 'assistant';

  const inline = (state: StateInline, silent: boolean): boolean => {
    const { src, pos, posMax } = state;
    const close = CLOSING[src.slice(pos, pos + 2)];
    const type = close === '\\)' ? INLINE : DISPLAYED;
    if (close === undefined || !isOn(state.env, type)) return false;
    const end = findClosing(src.slice(0, Math.min(posMax, pos + MAX_INLINE_CHARS)), pos + 2, close);
    const content = src.slice(pos + 2, end).trim();
    if (end < 0 || content === '') return false;
    if (!silent) Object.assign(state.push(type, 'math', 0), { content, markup: '$' });
    state.pos = end + 2;
    return true;
  };

  const block = (state: StateBlock, first: number, end: number, silent: boolean): boolean => {
    const start = (state.bMarks[first] ?? 0) + (state.tShift[first] ?? 0);
    if (!state.src.startsWith('\\[', start) || !isOn(state.env, BLOCK)) return false;
    for (let line = first; line < Math.min(end, first + MAX_BLOCK_LINES); line += 1) {
      // A line that is not part of the list or quote.
      if (!state.isEmpty(line) && (state.sCount[line] ?? 0) < state.blkIndent) return false;
      const from = line === first ? start + 2 : (state.bMarks[line] ?? 0) + (state.tShift[line] ?? 0);
      const text = state.src.slice(from, state.eMarks[line]);
      const at = findClosing(text, 0, '\\]');
      if (at < 0) continue;
      // With more text on the line, it is a part of a paragraph.
      if (text.slice(at + 2).trim() !== '') return false;
      if (silent) return true;
      const whole = state.getLines(first, line + 1, state.blkIndent, false).trim();
      const token = state.push(BLOCK, 'math', 0);
      Object.assign(token, { block: true, content: whole.slice(2, -2).trim(), markup: '$$' });
      token.map = [first, line + 1];
      state.line = line + 1;
      return true;
    }
    return false;
  };

  md.inline.ruler.before('escape', 'filechat_math', inline);
  md.block.ruler.after('blockquote', 'filechat_math', block, {
    alt: ['paragraph', 'reference', 'blockquote', 'list'],
  });
}

const CLOSING: Readonly<Record<string, string>> = { '\\(': '\\)', '\\[': '\\]' };

/** Skips other commands, such as `\\` at the end of a row. */
function findClosing(text: string, from: number, close: string): number {
  for (let at = from; at < text.length; at += 1) {
    if (text[at] !== '\\') continue;
    if (text.startsWith(close, at)) return at;
    at += 1;
  }
  return -1;
}
