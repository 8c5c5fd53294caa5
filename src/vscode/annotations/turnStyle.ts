import { isObject } from '../../base/json.ts';
import type { Role } from '../../chat/format/chat.ts';

/** The defaults of `filechat.ROLE` in package.json: gutter images cannot refer to theme colors. */
const COLORS: Readonly<Record<Role, Readonly<Record<'dark' | 'light', string>>>> = {
  user: { dark: '#4daafc', light: '#0069cc' },
  assistant: { dark: '#5fb38a', light: '#2a7d4f' },
  tool: { dark: '#c9944b', light: '#9a6100' },
  system: { dark: '#a587c9', light: '#7447a8' },
};

/** `customized` is the setting `workbench.colorCustomizations`. */
export function ruleColor(role: Role, theme: 'dark' | 'light', customized: unknown): string {
  const own: unknown = isObject(customized) ? customized[`filechat.${role}`] : undefined;
  return typeof own === 'string' && /^#[\da-f]{3,8}$/i.test(own) ? own : COLORS[role][theme];
}

/** A bar as high as its line, so that the bars of consecutive lines join. */
export function ruleImage(color: string): string {
  const bar = `<rect x="6" width="3" height="16" fill="${color}"/>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 16" preserveAspectRatio="none">${bar}</svg>`;
  return `data:image/svg+xml;base64,${btoa(svg)}`;
}

/** The used part of `vscode.TextDocumentContentChangeEvent`. */
interface LineChange {
  readonly range: { readonly start: { readonly line: number }; readonly end: { readonly line: number } };
  readonly text: string;
}

/** Longer than decorations take to VS Code, even while it is busy. */
const IN_FLIGHT_MS = 1_000;

/**
 * The lines of the markers when they were last decorated. VS Code moves decorations with the text, so they are only
 * set again if that is not enough. It does not move those that reach it after the text has changed.
 */
export class MarkerLines {
  readonly #now: () => number;
  #setAt = Number.NEGATIVE_INFINITY;
  #lines: readonly number[] = [];
  #names = '';
  #isTouched = true;

  constructor(now = () => performance.now()) {
    this.#now = now;
  }

  /** All changes refer to the text before them, from its end to its start. */
  move(changes: readonly LineChange[]): void {
    for (const { range, text } of changes) {
      const [first, last] = [range.start.line, range.end.line];
      if (this.#lines.some((line) => first <= line && line <= last)) this.#isTouched = true;
      const added = text.split('\n').length - 1 - (last - first);
      if (added === 0 || !this.#lines.some((line) => line > last)) continue;
      this.#lines = this.#lines.map((line) => (line > last ? line + added : line));
      if (this.#now() - this.#setAt < IN_FLIGHT_MS) this.#isTouched = true;
    }
  }

  /** Returns whether the decorations must be set again. */
  update(lines: readonly number[], names: string): boolean {
    const isSame =
      !this.#isTouched &&
      names === this.#names &&
      lines.length === this.#lines.length &&
      lines.every((line, at) => line === this.#lines[at]);
    this.#lines = lines;
    this.#names = names;
    this.#isTouched = false;
    if (!isSame) this.#setAt = this.#now();
    return !isSame;
  }
}
