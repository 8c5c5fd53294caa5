import { escapeMarkers, showInvisible } from '../chat/format/escape.ts';
import { fence } from '../chat/format/fence.ts';
import type { Asset, AssetPart, LinkPart, ResultPart, TextPart, ToolResult } from '../ports.ts';
import { codeSpan, escapeProse } from './inline.ts';

/**
 * A result as the body of a tool turn. `readToolResult` in readMarkdown.ts is its exact inverse.
 * Whatever a tool says, the body holds no turn marker, no open fence and nothing that loads by itself.
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
/** Divides two text blocks where there is nothing else between them. */
export const NEXT_BLOCK = '<!-- next block -->';
/** Before a part that the model does not get. */
export const FOR_USER = '<!-- for the user only -->';
export const PREVIEW_INFO = 'text preview';

/**
 * Text that stays itself as Markdown: it loads nothing, hides nothing, leaves nothing open, and does not
 * look like a line of ours. Any other text goes into a fence.
 */
export function canBePlain({ text, source }: TextPart): boolean {
  const ownLines = /^ {0,3}>|```|~~~|\$\$|<[A-Za-z/!?]|!\[|\]\s*[([:]/m;
  const blankEdge = /^[ \t]*(\n|$)|\n[ \t]*$/;
  // Nobody can read JSON whose lines have run together.
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
