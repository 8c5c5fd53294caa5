import { type Turn, turnBody } from '../chat/parse.ts';
import type { ResultPart, TextEdit } from '../ports.ts';
import { renderToolResult } from './markdown.ts';
import { readToolResult } from './readMarkdown.ts';

/** Keeps a tool's result, or only the file at `path`, for the user's eyes: it stays in the chat and is not sent. */
export function leaveOutResult(text: string, turn: Turn, path?: string): TextEdit | undefined {
  const body = turnBody(text, turn);
  const result = readToolResult(body);
  const isMeant = (part: ResultPart) =>
    part.audience !== 'user' && (path === undefined || (part.kind === 'asset' && part.asset.path === path));
  if (!result.parts.some(isMeant)) return undefined;
  const parts = result.parts.map((part) => (isMeant(part) ? { ...part, audience: 'user' as const } : part));
  const before = body.slice(0, body.length - body.trimStart().length);
  const after = body.slice(body.trimEnd().length);
  return {
    start: turn.bodyStart,
    end: turn.end,
    text: `${before}${renderToolResult({ ...result, parts }).trim()}${after}`,
  };
}
