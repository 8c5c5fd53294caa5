import type { TextEdit } from '../../src/ports/document.ts';

export function applyEdit(text: string, edit: TextEdit | undefined): string {
  return edit ? text.slice(0, edit.start) + edit.text + text.slice(edit.end) : text;
}
