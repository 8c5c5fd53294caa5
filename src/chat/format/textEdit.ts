import type { TextEdit } from '../../ports/document.ts';

export function insertion(at: number, text: string): TextEdit {
  return { start: at, end: at, text };
}

/** Inserts whole lines, separated by blank lines from the text around them. */
export function insertLines(text: string, at: number, lines: string): TextEdit {
  const before = text.slice(Math.max(0, at - 4), at).replaceAll('\r', '');
  const gap = at === 0 || before.endsWith('\n\n') ? '' : before.endsWith('\n') ? '\n' : '\n\n';
  return insertion(at, `${gap}${lines}${at < text.length ? '\n' : ''}`);
}

/** The text after the edit. */
export function editedText(text: string, { start, end, text: addition }: TextEdit): string {
  return text.slice(0, start) + addition + text.slice(end);
}

export function lineEndOf(text: string): '\n' | '\r\n' {
  return text.includes('\r\n') ? '\r\n' : '\n';
}
