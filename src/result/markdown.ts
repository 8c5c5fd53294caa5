import { groupBy } from '../base/collections.ts';
import { defined } from '../base/json.ts';
import { trimBlankLines } from '../base/lines.ts';
import { readAssetLink, renderAssetLink } from '../chat/format/assetLink.ts';
import type { Turn } from '../chat/format/chat.ts';
import { restoreInvisible, showInvisible } from '../chat/format/escapeMarkers.ts';
import { FenceReader, fence, inlineCode } from '../chat/format/fence.ts';
import { turnBody } from '../chat/format/parse.ts';
import { countUpTo } from '../chat/format/textEdit.ts';
import { detectMarkup, mediaByUri } from '../media/sniff.ts';
import {
  isTextType,
  languageOf,
  type MediaType,
  mediaByExtension,
  mediaByType,
  UNKNOWN,
} from '../media/table.ts';
import type { TextEdit } from '../ports/document.ts';
import type {
  Asset,
  AssetPart,
  LinkPart,
  ResourceSource,
  ResultPart,
  TextPart,
  ToolResult,
} from '../ports/results.ts';
import { isJson, joinLines, layOut } from './jsonText.ts';
import { canBePlain, isAligned, readPlain, renderPlain } from './plainText.ts';

/**
 * Renders a result as the body of a tool turn. `readToolResult` is its exact inverse.
 * Whatever a tool returns, the body contains no turn marker, no open fence and nothing that loads a resource.
 */
export function renderToolResult({ isError, parts }: ToolResult): string {
  const withAssets = parts.some((part) => part.kind === 'asset');
  const pieces: string[] = isError ? [ERROR_LINE] : [];
  let afterPlain = false;
  for (const [at, part] of parts.entries()) {
    const isLast = at === parts.length - 1;
    const plain = withAssets && part.kind === 'text' && canBePlain(part, isLast) && !isAligned(part.text);
    if (part.audience === 'user') pieces.push(FOR_USER);
    else if (plain && afterPlain) pieces.push(NEXT_BLOCK);
    pieces.push(plain ? renderPlain(part.text) : renderPart(part));
    afterPlain = plain;
  }
  return pieces.length === 0 ? NOTHING_LINE : pieces.join('\n\n');
}

export const ERROR_LINE = '> ⚠ **The tool reported an error.**';
const NOTHING_LINE = '> The tool returned nothing.';
const NEXT_BLOCK = '<!-- next block -->';
const FOR_USER = '<!-- for the user only -->';
export const PREVIEW_INFO = 'text preview';
const JSON_INFO = 'json';
/** JSON that the tool returned without white space. The model gets it as the tool returned it. */
const LAID_OUT_INFO = 'json formatted';

export function renderPart(part: ResultPart): string {
  switch (part.kind) {
    case 'text':
      return renderText(part);
    case 'asset':
      return renderAsset(part);
    case 'link':
      return renderLink(part);
    case 'data':
      return renderJson(part.json);
    case 'problem':
      return withPreview(quote(`⚠ ${escapeProse(part.message)}`), part.preview);
  }
}

function renderJson(json: string): string {
  const laidOut = layOut(json);
  return laidOut === undefined
    ? fence(showInvisible(json), JSON_INFO)
    : fence(showInvisible(laidOut), LAID_OUT_INFO);
}

function renderText({ text, source }: TextPart): string {
  const fenced = fence(showInvisible(text), languageOf(source?.mimeType));
  if (!source) return fenced;
  const type = source.mimeType === undefined ? '' : ` (${codeSpan(source.mimeType)})`;
  return `> From ${codeSpan(source.uri)}${type}\n\n${fenced}`;
}

function renderAsset({ asset, preview }: AssetPart): string {
  return withPreview(renderAssetLink(asset), preview);
}

function withPreview(written: string, preview: string | undefined): string {
  return preview === undefined ? written : `${written}\n\n${fence(showInvisible(preview), PREVIEW_INFO)}`;
}

function renderLink({ name, uri, mimeType, size, description }: LinkPart): string {
  const type = mimeType === undefined ? '' : `, type ${codeSpan(mimeType)}`;
  const bytes = size === undefined ? '' : `, ${size} bytes`;
  const more = description === undefined ? '' : `\n> ${codeSpan(description)}`;
  return `> Resource ${codeSpan(name)} at ${codeSpan(uri)}${type}${bytes}${more}`;
}

function quote(text: string): string {
  return text
    .split('\n')
    .map((line) => `> ${line}`)
    .join('\n');
}

/** Inline code, for untrusted text: nothing in it is a link or a tag. */
export function codeSpan(text: string): string {
  return inlineCode(showInvisible(text).replace(/[\n\t]|^ | $/g, (each) => ESCAPES[each] ?? each));
}

const ESCAPES: Readonly<Record<string, string>> = { '\n': '⟦U+000A⟧', '\t': '⟦U+0009⟧', ' ': '⟦U+0020⟧' };

/** The inverse of `codeSpan`: the contents of all inline code in a line, and the text around it. */
function readCodeSpans(line: string): CodeSpans {
  const spans: string[] = [];
  const places: Place[] = [];
  const runs = [...line.matchAll(/`+/g)];
  // Searching for the end of each code span would be quadratic.
  const ofLength = groupBy(runs, ([run]) => run.length);
  let rest = '';
  let from = 0;
  for (const { 0: ticks, index } of runs) {
    const same = ofLength.get(ticks.length) ?? [];
    const closing = index < from ? undefined : same[countUpTo(same, index, (run) => run.index)];
    if (!closing) continue;
    const place = { start: index + ticks.length, end: closing.index };
    const content = line.slice(place.start, place.end);
    places.push(place);
    spans.push(restoreInvisible(/^ .* $/s.test(content) ? content.slice(1, -1) : content));
    rest += `${line.slice(from, index)}\``;
    from = place.end + ticks.length;
  }
  return { spans, places, rest: rest + line.slice(from) };
}

interface Place {
  readonly start: number;
  readonly end: number;
}

interface CodeSpans {
  readonly spans: readonly string[];
  /** Where the contents are, without the backticks. */
  readonly places: readonly Place[];
  readonly rest: string;
}

function escapeProse(text: string): string {
  return showInvisible(text).replace(/[\\`*[\]<>&~|$]/g, '\\$&');
}

export function unescapeProse(text: string): string {
  return restoreInvisible(text.replace(/\\([\\`*[\]<>&~|$])/g, '$1'));
}

const MAX_PREVIEW_CHARS = 600;
const CUT = '\n…\n';

/** The head and the tail of a long text, cut at line ends if that leaves at least half of each. */
export function previewText(whole: string): string {
  if (whole.length <= MAX_PREVIEW_CHARS) return whole;
  // Blank lines would take the place of text.
  const text = trimBlankLines(whole);
  if (text.length <= MAX_PREVIEW_CHARS) return text;
  const room = MAX_PREVIEW_CHARS - CUT.length;
  const head = text.slice(0, Math.ceil(room * 0.6));
  const tail = text.slice(text.length - Math.floor(room * 0.4));
  const headEnd = head.lastIndexOf('\n');
  const tailStart = tail.indexOf('\n') + 1;
  const shownHead = headEnd >= head.length / 2 ? head.slice(0, headEnd) : head;
  const shownTail = tailStart <= tail.length / 2 ? tail.slice(tailStart) : tail;
  return `${shownHead}${CUT}${shownTail}`.toWellFormed();
}

/** By the declared type, the content, then the URI. `isCut` if only the ends of a text are given. */
export function detectTextType(
  text: string,
  { mimeType, uri }: { readonly mimeType?: string | undefined; readonly uri?: string } = {},
  isCut = false,
): MediaType {
  const known = mediaByType(mimeType?.split(';')[0]?.trim().toLowerCase() ?? '');
  if (known?.kind === 'file' && known.extension !== 'txt') return known;
  const markup = detectMarkup(text);
  if (markup) return markup;
  const named = mediaByUri(uri);
  if (named && isTextType(named.types[0])) return named;
  return mediaByExtension(isJson(text, isCut) ? 'json' : 'txt') ?? UNKNOWN;
}

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
  const flush = (isLast = false) => {
    const written = lines.join('\n');
    const text = trimBlankLines(written);
    // Two blank lines: one separates the pieces, the other is the end of the text.
    const hasEnd = kind === 'plain' && !isLast && /[^\n]\n\n$/.test(written);
    if (text.trim() !== '') pieces.push({ kind, text: hasEnd ? `${text}\n` : text });
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
      const asset = readAssetLink(line, 'tool');
      const quoted = line.startsWith('>');
      if (asset || quoted !== (kind === 'quote')) flush();
      if (asset) pieces.push({ kind: 'asset', asset });
      else {
        kind = quoted ? 'quote' : 'plain';
        lines.push(line);
      }
    }
  }
  flush(true);
  return pieces;
}

function addPart(
  parts: ResultPart[],
  piece: Exclude<Piece, { kind: 'forUser' }>,
  source: ResourceSource | undefined,
): void {
  if (piece.kind === 'asset') parts.push({ kind: 'asset', asset: piece.asset });
  else if (piece.kind === 'plain') {
    parts.push({ kind: 'text', text: readPlain(piece.text) });
  } else if (piece.kind === 'quote') {
    if (piece.text !== NOTHING_LINE) parts.push(readQuote(piece.text));
  } else {
    addFence(parts, piece.info, restoreInvisible(piece.text), source);
  }
}

function addFence(parts: ResultPart[], info: string, text: string, source: ResourceSource | undefined): void {
  const last = parts.at(-1);
  if (source) parts.push({ kind: 'text', text, source });
  else if (info === PREVIEW_INFO && (last?.kind === 'asset' || last?.kind === 'problem')) {
    parts[parts.length - 1] = { ...last, preview: text };
  } else if (info === JSON_INFO) parts.push({ kind: 'data', json: text });
  else if (info === LAID_OUT_INFO) parts.push({ kind: 'data', json: joinLines(text) ?? text });
  else parts.push({ kind: 'text', text });
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

/** The URI of a resource link, and its place in the line with which the link begins. */
export function readLinkLine(line: string): (Place & { readonly uri: string }) | undefined {
  const { spans, places, rest } = readCodeSpans(line);
  const [uri, place] = [spans[1], places[1]];
  return uri !== undefined && place && LINK.test(rest) ? { uri, ...place } : undefined;
}

function readLink([name = '', uri = '', ...more]: readonly string[], match: RegExpExecArray): ResultPart {
  const mimeType = match[1] === undefined ? undefined : more.shift();
  const description = match[3] === undefined ? undefined : more.shift();
  const size = match[2] === undefined ? undefined : Number(match[2]);
  return { kind: 'link', uri, name, ...defined({ mimeType, size, description }) };
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
