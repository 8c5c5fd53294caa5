import { trimBlankLines } from '../base/lines.ts';
import { type Turn, turnBody } from '../chat/format/parse.ts';
import type { ResultPart, TextEdit } from '../ports.ts';
import { renderToolResult } from './markdown.ts';
import { readToolResult } from './readMarkdown.ts';

/**
 * Keeps a tool's result, or only the file at `path`, for the user's eyes: it stays in the chat and is not sent. Nothing
 * for a result that somebody has changed in a way that would not come back as it was written.
 */
export function leaveOutResult(text: string, turn: Turn, path?: string): TextEdit | undefined {
  const body = turnBody(text, turn);
  const written = trimBlankLines(body);
  const result = readToolResult(body);
  if (renderToolResult(result) !== written.replaceAll('\r\n', '\n')) return undefined;
  const isMeant = (part: ResultPart) =>
    part.audience !== 'user' && (path === undefined || (part.kind === 'asset' && part.asset.path === path));
  if (!result.parts.some(isMeant)) return undefined;
  const parts = result.parts.map((part) => (isMeant(part) ? { ...part, audience: 'user' as const } : part));
  const start = turn.bodyStart + body.indexOf(written);
  return { start, end: start + written.length, text: renderToolResult({ ...result, parts }) };
}
