import { restoreInvisible } from '../format/escape.ts';
import { InvisibleEscaper } from './escape.ts';

export const REASONING_HEAD = '<details><summary>Reasoning</summary>';
export const REASONING_FOOT = '</details>';
export const REASONING_INFO = 'reasoning';

/** Chosen before the reasoning is known: a line that begins with these backticks gets a backslash. */
export const REASONING_FENCE = '````';
/** A line that could close the fence or has a meaning inside code. */
const SPECIAL = /^([ \t]*)(\\*)(?=`{4}|<!-- filechat:|<tool_(?:call|result)>)/gm;
const SPECIAL_ESCAPED = /^([ \t]*)\\(\\*)(?=`{4}|<!-- filechat:|<tool_(?:call|result)>)/gm;
const PARTIAL_SPECIAL = /^[ \t]*\\*(`{0,3}|<[!\-a-z:_ ]{0,13})$/;

export class ReasoningWriter {
  readonly #invisible = new InvisibleEscaper();
  #atLineStart = true;
  #held = '';

  push(chunk: string): string {
    return this.#take(this.#invisible.push(chunk), false);
  }

  flush(): string {
    return this.#take(this.#invisible.end(), true);
  }

  #take(shown: string, isAll: boolean): string {
    const text = this.#held + shown;
    const lineStart = text.lastIndexOf('\n') + 1;
    const mayBePartial = lineStart > 0 || this.#atLineStart;
    const isPartial = !isAll && mayBePartial && PARTIAL_SPECIAL.test(text.slice(lineStart));
    const end = isPartial ? lineStart : text.length;
    this.#held = text.slice(end);
    if (end === 0) return '';
    // A leading character prevents `^` from matching in the middle of a line.
    const before = this.#atLineStart ? '' : '.';
    this.#atLineStart = isPartial || text.endsWith('\n');
    return (before + text.slice(0, end)).replace(SPECIAL, '$1\\$2').slice(before.length);
  }
}

export function readReasoning(lines: readonly string[]): string {
  return restoreInvisible(lines.join('\n').replace(SPECIAL_ESCAPED, '$1$2'));
}

/** Detects edited reasoning. It does not need to resist deliberate collisions. */
export function checksum(text: string): string {
  let sum = 0x811c9dc5;
  for (let at = 0; at < text.length; at += 1) {
    sum = Math.imul(sum ^ text.charCodeAt(at), 0x01000193);
  }
  return (sum >>> 0).toString(16).padStart(8, '0');
}

export function beginReasoning(): string {
  return `${REASONING_HEAD}\n\n${REASONING_FENCE}${REASONING_INFO}\n`;
}
