import assert from 'node:assert/strict';
import type { TextEdit } from '../../../src/ports/document.ts';

/** Converts inserted line ends to those of the document, as an editor does. */
export function editDocument(text: string, change: TextEdit | undefined): string {
  assert.ok(change, 'there is nothing to change');
  const added = text.includes('\r\n') ? change.text.replaceAll('\n', '\r\n') : change.text;
  return text.slice(0, change.start) + added + text.slice(change.end);
}
