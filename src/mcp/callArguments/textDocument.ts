import type { Position, Range, TextDocument } from 'vscode-json-languageservice';

/** Arguments as the language service wants to see them. */
export function textDocument(text: string): TextDocument {
  const starts = [0, ...[...text.matchAll(/\n/g)].map(({ index }) => index + 1)];
  const offsetAt = ({ line, character }: Position) => {
    const start = starts[line] ?? text.length;
    return Math.min(start + character, starts[line + 1] ?? text.length);
  };
  const positionAt = (offset: number): Position => {
    const at = Math.max(0, Math.min(offset, text.length));
    const line = starts.findLastIndex((start) => start <= at);
    return { line, character: at - (starts[line] ?? 0) };
  };
  return {
    uri: 'file:///arguments.json',
    languageId: 'json',
    version: 1,
    lineCount: starts.length,
    getText: (range?: Range) => (range ? text.slice(offsetAt(range.start), offsetAt(range.end)) : text),
    positionAt,
    offsetAt,
    getLineRange: (line) => ({
      start: { line, character: 0 },
      end: positionAt((starts[line + 1] ?? text.length + 1) - 1),
    }),
    getEOLCharacters: (line) => (line < starts.length - 1 ? '\n' : ''),
  };
}
