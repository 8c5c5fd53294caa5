import { escapeMarkers, restoreInvisible, showInvisible } from '../chat/format/escape.ts';
import { fence, inlineCode } from '../chat/format/fence.ts';
import { detectMarkup } from '../media/sniff.ts';
import { type MediaType, mediaByExtension, mediaByType, UNKNOWN } from '../media/table.ts';
import type { Asset, AssetPart, LinkPart, ResultPart, TextPart, ToolResult } from '../ports/results.ts';

/**
 * Renders a result as the body of a tool turn. `readToolResult` is its exact inverse.
 * Whatever a tool returns, the body contains no turn marker, no open fence and nothing that loads a resource.
 */
export function renderToolResult({ isError, parts }: ToolResult): string {
  const withAssets = parts.some((part) => part.kind === 'asset');
  const pieces: string[] = isError ? [ERROR_LINE] : [];
  let afterPlain = false;
  for (const part of parts) {
    const plain = withAssets && part.kind === 'text' && canBePlain(part);
    if (part.audience === 'user') pieces.push(FOR_USER);
    else if (plain && afterPlain) pieces.push(NEXT_BLOCK);
    pieces.push(plain ? escapeMarkers(showInvisible(part.text)) : renderPart(part));
    afterPlain = plain;
  }
  return pieces.length === 0 ? NOTHING_LINE : pieces.join('\n\n');
}

export const ERROR_LINE = '> ⚠ **The tool reported an error.**';
export const NOTHING_LINE = '> The tool returned nothing.';
export const NEXT_BLOCK = '<!-- next block -->';
export const FOR_USER = '<!-- for the user only -->';
export const PREVIEW_INFO = 'text preview';

/**
 * Whether text can be written as Markdown without a fence: it loads and hides nothing, leaves nothing open, and does not
 * look like a line of this format.
 */
export function canBePlain({ text, source }: TextPart): boolean {
  const ownLines = /^ {0,3}>|```|~~~|\$\$|<[A-Za-z/!?]|!\[|\]\s*[([:]/m;
  const blankEdge = /^[ \t]*(\n|$)|\n[ \t]*$/;
  // Markdown would join the lines of JSON.
  const likeJson = /^\s*(?:\{\s*["}]|\[\s*["{[\]\d])/;
  return source === undefined && !ownLines.test(text) && !blankEdge.test(text) && !likeJson.test(text);
}

export function renderPart(part: ResultPart): string {
  switch (part.kind) {
    case 'text':
      return renderText(part);
    case 'asset':
      return renderAsset(part);
    case 'link':
      return renderLink(part);
    case 'data':
      return fence(showInvisible(part.json), 'json');
    case 'problem':
      return quote(`⚠ ${escapeProse(part.message)}`);
  }
}

function renderText({ text, source }: TextPart): string {
  const fenced = fence(showInvisible(text));
  if (!source) return fenced;
  const type = source.mimeType === undefined ? '' : ` (${codeSpan(source.mimeType)})`;
  return `> From ${codeSpan(source.uri)}${type}\n\n${fenced}`;
}

function renderAsset({ asset, preview }: AssetPart): string {
  const link = renderAssetLink(asset);
  return preview === undefined ? link : `${link}\n\n${fence(showInvisible(preview), PREVIEW_INFO)}`;
}

export function renderAssetLink({ kind, number, path, name }: Asset): string {
  const label = `Tool generated ${kind} ${number}${name === undefined ? '' : `: ${name}`}`;
  const target = path.replace(/[^\w\-./:~@+,=]/gu, (character) =>
    character === '(' ? '%28' : character === ')' ? '%29' : encodeURIComponent(character),
  );
  return `${kind === 'image' ? '!' : ''}[${label}](${target})`;
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
export function readCodeSpans(line: string): { readonly spans: readonly string[]; readonly rest: string } {
  const spans: string[] = [];
  const rest = line.replace(/(?<!`)(`+)(?!`)(.*?[^`])\1(?!`)/gs, (_whole, _ticks, content: string) => {
    spans.push(restoreInvisible(/^ .* $/s.test(content) ? content.slice(1, -1) : content));
    return '`';
  });
  return { spans, rest };
}

function escapeProse(text: string): string {
  return showInvisible(text).replace(/[\\`*[\]<>&~|$]/g, '\\$&');
}

export function unescapeProse(text: string): string {
  return restoreInvisible(text.replace(/\\([\\`*[\]<>&~|$])/g, '$1'));
}

const MAX_PREVIEW_CHARS = 600;
const CUT = '\n…\n';

/** The head and the tail of a long text, cut at line ends where possible. */
export function previewText(text: string): string {
  if (text.length <= MAX_PREVIEW_CHARS) return text;
  const room = MAX_PREVIEW_CHARS - CUT.length;
  const head = text.slice(0, Math.ceil(room * 0.6));
  const tail = text.slice(text.length - Math.floor(room * 0.4));
  const headEnd = head.lastIndexOf('\n');
  const tailStart = tail.indexOf('\n') + 1;
  return `${head.slice(0, headEnd > 0 ? headEnd : undefined)}${CUT}${tail.slice(tailStart)}`.toWellFormed();
}

export function detectTextType(text: string, declared?: string): MediaType {
  const known = mediaByType(declared?.split(';')[0]?.trim().toLowerCase() ?? '');
  if (known?.kind === 'file' && known.extension !== 'txt') return known;
  return detectMarkup(text) ?? mediaByExtension(looksLikeJson(text) ? 'json' : 'txt') ?? UNKNOWN;
}

function looksLikeJson(text: string): boolean {
  if (!/^\s*[[{]/.test(text)) return false;
  try {
    JSON.parse(text);
    return true;
  } catch {
    return false;
  }
}
