import { restoreInvisible, showInvisible } from '../chat/format/escape.ts';

/** Pieces of foreign text within a line of ours, each with its inverse. */

/** Inline code, in which nothing is a link, a tag or a request. */
export function codeSpan(text: string): string {
  const shown = showInvisible(text).replace(/[\n\t]|^ | $/g, (each) => ESCAPES[each] ?? each);
  let length = 1;
  for (const [run] of shown.matchAll(/`+/g)) length = Math.max(length, run.length + 1);
  const ticks = '`'.repeat(length);
  const pad = shown.startsWith('`') || shown.endsWith('`') ? ' ' : '';
  return `${ticks}${pad}${shown}${pad}${ticks}`;
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '⟦U+000A⟧', '\t': '⟦U+0009⟧', ' ': '⟦U+0020⟧' };

/** The contents of all inline code in a line, and what stands between. */
export function readCodeSpans(line: string): { readonly spans: readonly string[]; readonly rest: string } {
  const spans: string[] = [];
  const rest = line.replace(/(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)/gs, (_whole, _ticks, content: string) => {
    spans.push(restoreInvisible(/^ .* $/s.test(content) ? content.slice(1, -1) : content));
    return '`';
  });
  return { spans, rest };
}

/** Escapes what could become a link, a picture, code or a tag; the words stay readable. */
export function escapeProse(text: string): string {
  return showInvisible(text).replace(/[\\`*[\]<>&~|$]/g, '\\$&');
}

export function unescapeProse(text: string): string {
  return restoreInvisible(text.replace(/\\([\\`*[\]<>&~|$])/g, '$1'));
}
