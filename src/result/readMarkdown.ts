import { defined } from '../base/json.ts';
import { trimBlankLines } from '../base/lines.ts';
import type { Turn } from '../chat/format/chat.ts';
import { restoreInvisible, unescapeMarkers } from '../chat/format/escape.ts';
import { FenceReader } from '../chat/format/fence.ts';
import { turnBody } from '../chat/format/parse.ts';
import type { TextEdit } from '../ports/document.ts';
import type {
  Asset,
  AssetKind,
  AssetPart,
  ResourceSource,
  ResultPart,
  ToolResult,
} from '../ports/results.ts';
import {
  ERROR_LINE,
  FOR_USER,
  NEXT_BLOCK,
  NOTHING_LINE,
  PREVIEW_INFO,
  readCodeSpans,
  renderToolResult,
  unescapeProse,
} from './markdown.ts';

/** The inverse of `renderToolResult`. Anything else in the body, such as manual edits, is read as text. */
export function readToolResult(body: string): ToolResult {
  const pieces = splitPieces(body.replaceAll('\r\n', '\n'));
  const isError = pieces[0]?.kind === 'quote' && pieces[0].text === ERROR_LINE;
  const parts: ResultPart[] = [];
  let source: ResourceSource | undefined;
  let forUser = false;
  for (const piece of isError ? pieces.slice(1) : pieces) {
    if (piece.kind === 'forUser') {
      forUser = true;
      continue;
    }
    const nextSource = piece.kind === 'quote' ? readSource(piece.text) : undefined;
    const known = parts.length;
    if (!nextSource) addPart(parts, piece, source);
    const added = parts.at(known);
    if (added && forUser) parts[known] = { ...added, audience: 'user' };
    if (!nextSource) forUser = false;
    source = nextSource;
  }
  return { isError, parts };
}

type Piece =
  | { readonly kind: 'fence'; readonly info: string; readonly text: string }
  | { readonly kind: 'quote'; readonly text: string }
  | { readonly kind: 'asset'; readonly asset: Asset }
  | { readonly kind: 'forUser' }
  | { readonly kind: 'plain'; readonly text: string };

/** Splits a body at blank lines, except inside plain text and fences. */
function splitPieces(body: string): readonly Piece[] {
  const pieces: Piece[] = [];
  const fences = new FenceReader();
  let info = '';
  let lines: string[] = [];
  let kind: 'plain' | 'quote' = 'plain';
  const flush = () => {
    const text = trimBlankLines(lines.join('\n'));
    if (text.trim() !== '') pieces.push({ kind, text });
    lines = [];
    kind = 'plain';
  };
  for (const line of body.split('\n')) {
    const isDivider = line === NEXT_BLOCK || line === FOR_USER;
    const state = isDivider ? 'divider' : fences.step(line);
    if (state === 'opened') {
      flush();
      info = fences.open?.info ?? '';
    } else if (state === 'closed') {
      pieces.push({ kind: 'fence', info, text: lines.join('\n') });
      lines = [];
    } else if (state === 'inside' || fences.open) lines.push(line);
    else if (state === 'divider') {
      flush();
      if (line === FOR_USER) pieces.push({ kind: 'forUser' });
    } else {
      const asset = readAssetLink(line);
      const quoted = line.startsWith('>');
      if (asset || quoted !== (kind === 'quote')) flush();
      if (asset) pieces.push({ kind: 'asset', asset });
      else {
        kind = quoted ? 'quote' : 'plain';
        lines.push(line);
      }
    }
  }
  flush();
  return pieces;
}

function addPart(
  parts: ResultPart[],
  piece: Exclude<Piece, { kind: 'forUser' }>,
  source: ResourceSource | undefined,
): void {
  if (piece.kind === 'asset') parts.push({ kind: 'asset', asset: piece.asset });
  else if (piece.kind === 'plain') {
    parts.push({ kind: 'text', text: restoreInvisible(unescapeMarkers(piece.text)) });
  } else if (piece.kind === 'quote') {
    if (piece.text !== NOTHING_LINE) parts.push(readQuote(piece.text));
  } else {
    addFence(parts, piece.info, restoreInvisible(piece.text), source);
  }
}

function addFence(parts: ResultPart[], info: string, text: string, source: ResourceSource | undefined): void {
  const last = parts.at(-1);
  if (info === PREVIEW_INFO && last?.kind === 'asset') {
    parts[parts.length - 1] = { ...(last satisfies AssetPart), preview: text };
  } else if (info === 'json') parts.push({ kind: 'data', json: text });
  else parts.push({ kind: 'text', text, ...defined({ source }) });
}

function readSource(text: string): ResourceSource | undefined {
  const { spans, rest } = readCodeSpans(text);
  const [uri, mimeType] = spans;
  if (uri === undefined) return undefined;
  if (rest === '> From `') return { uri };
  return rest === '> From ` (`)' && mimeType !== undefined ? { uri, mimeType } : undefined;
}

const LINK = /^> Resource ` at `(, type `)?(?:, (\d+) bytes)?(\n> `)?$/;

function readQuote(text: string): ResultPart {
  const { spans, rest } = readCodeSpans(text);
  const match = LINK.exec(rest);
  if (match) return readLink(spans, match);
  const message = text.replace(/^> ?/gm, '').replace(/^⚠ /, '');
  return { kind: 'problem', message: unescapeProse(message) };
}

function readLink([name = '', uri = '', ...more]: readonly string[], match: RegExpExecArray): ResultPart {
  const mimeType = match[1] === undefined ? undefined : more.shift();
  const description = match[3] === undefined ? undefined : more.shift();
  const size = match[2] === undefined ? undefined : Number(match[2]);
  return { kind: 'link', uri, name, ...defined({ mimeType, size, description }) };
}

const ASSET =
  /^(!?)\[Tool generated (image|audio|file) (\d+)(?:: ([^\][]+))?\]\(([^()\s]*\/tool-[^()\s]+)\)$/;

function readAssetLink(line: string): Asset | undefined {
  const match = ASSET.exec(line);
  if (!match) return undefined;
  const [, bang, kind, number, name, target = ''] = match;
  if ((bang === '!') !== (kind === 'image')) return undefined;
  const asset = { kind: kind as AssetKind, number: Number(number), path: decodeTarget(target) };
  return name === undefined ? asset : { ...asset, name };
}

function decodeTarget(target: string): string {
  try {
    return decodeURIComponent(target);
  } catch {
    return target;
  }
}

/**
 * Excludes a tool's result, or only the file at `path`, from requests; it stays in the chat. Returns undefined for a
 * result with manual edits that would not survive.
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
