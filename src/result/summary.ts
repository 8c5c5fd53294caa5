export interface SummaryValues {
  readonly kind: string;
  readonly name: string;
  readonly size: string;
  readonly type: string;
  readonly ref: string;
}

export const DEFAULT_SUMMARY = '[{kind} {name}, {type}, {size}, {ref}]';
export const MAX_SUMMARY_TOKENS = 60;
const SHORTEST_SUMMARY = '[{kind}, {size}, {ref}]';

/** One line for a file that is not sent. Shortens the name, then the template, until the line is short enough. */
export function summarize(values: SummaryValues, template = DEFAULT_SUMMARY): string {
  for (const each of [template, DEFAULT_SUMMARY, SHORTEST_SUMMARY]) {
    const line = fitName(values, each);
    if (line !== undefined) return line;
  }
  return cutToTokens(fill(SHORTEST_SUMMARY, values));
}

/**
 * An upper bound for such lines with any current tokenizer: one token per sign, per two digits, per three letters of a
 * word and per two of other letters, and more outside of ASCII.
 */
export function tokensAtMost(text: string): number {
  let tokens = 0;
  for (const [run] of text.matchAll(/[A-Za-z]+|[0-9]+|[^A-Za-z0-9]/gu)) tokens += tokensOf(run);
  return tokens;
}

function tokensOf(run: string): number {
  if (/^[A-Z]?[a-z]+$/.test(run)) return Math.ceil(run.length / 3);
  if (/^[A-Za-z0-9]/.test(run)) return Math.ceil(run.length / 2);
  if (run === ' ') return 0;
  const bytes = Buffer.byteLength(run);
  return Math.max(1, bytes - 1);
}

function fitName(values: SummaryValues, template: string): string | undefined {
  const name = Array.from(values.name);
  for (let kept = name.length; kept >= 0; kept -= 1) {
    const shown = kept === name.length ? values.name : kept === 0 ? '' : `${name.slice(0, kept).join('')}…`;
    const line = fill(template, { ...values, name: shown });
    if (tokensAtMost(line) <= MAX_SUMMARY_TOKENS) return line;
  }
  return undefined;
}

function fill(template: string, values: SummaryValues): string {
  const known = new Map<string, string>(Object.entries(values));
  const filled = template.replace(/\{(\w+)\}/g, (_whole, key: string) => oneLine(known.get(key) ?? ''));
  return oneLine(filled)
    .replace(/(?:, )+(?=[,\]])/g, '')
    .replace(/ +(?=[,\]])/g, '');
}

function oneLine(text: string): string {
  return text.replace(/[\s\p{Cc}]+/gu, ' ').trim();
}

function cutToTokens(text: string): string {
  let line = text;
  while (tokensAtMost(line) > MAX_SUMMARY_TOKENS) line = Array.from(line).slice(0, -1).join('');
  return line;
}
