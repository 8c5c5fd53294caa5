import { trimBlankLines } from '../base/lines.ts';
import { renderAssetLink } from '../chat/format/assetLink.ts';
import { escapeMarkers, showInvisible } from '../chat/format/escapeMarkers.ts';
import { fence } from '../chat/format/fence.ts';
import { escapeReply, withoutClosingLines } from '../chat/reply/escapeReply.ts';
import { languageOf } from '../media/table.ts';
import type { ResultPart, TextPart } from '../ports/results.ts';
import { codeSpan, PREVIEW_INFO, renderPart } from './markdown.ts';
import { canBePlain } from './plainText.ts';

/**
 * Renders parts from a server for a user turn. Neither this nor `renderForReply` starts a turn, makes a call, loads or
 * hides anything. Linked files of a user turn are sent, so the only links are those to assets.
 */
export function renderForUser(parts: readonly ResultPart[]): string {
  const pieces = parts.filter(hasContent).map((part) => {
    const written = renderUserPart(part);
    return part.audience === 'user' ? hideFromModel(written) : written;
  });
  // Also escapes code, because a user turn is unescaped as a whole.
  return escapeMarkers(pieces.join('\n\n'));
}

/** For an assistant turn. Parts for the user only come last, where they interrupt no list. */
export function renderForReply(parts: readonly ResultPart[]): string {
  const said = parts.filter(hasContent);
  const pieces = replyPieces(said.filter((part) => part.audience !== 'user'));
  const hidden = said.filter((part) => part.audience === 'user').map(renderUserPart);
  const all = [
    ...pieces,
    ...hidden.map((text): Piece => ({ kind: 'own', text: escapeMarkers(hideFromModel(text)) })),
  ];
  return all
    .map(({ kind, text }, at) => (kind === 'own' ? text : escapeText(text, at === all.length - 1)))
    .join('\n\n');
}

function hasContent(part: ResultPart): boolean {
  return part.kind !== 'text' || part.source !== undefined || part.text.trim() !== '';
}

/** Brackets may refer to a link definition elsewhere in the turn. */
const BRACKETS = /\[[^\]]*\]/;

function renderUserPart(part: ResultPart): string {
  if (part.kind !== 'text' || part.source) return renderPart(part);
  const text = trimBlankLines(part.text);
  const plain = !BRACKETS.test(text) && canBePlain({ ...part, text });
  return plain ? showInvisible(text) : renderPart(part);
}

/** Comments are not sent. The text cannot end the comment. */
function hideFromModel(written: string): string {
  const harmless = written.replace(/[<>]/g, (sign) => (sign === '<' ? '⟦U+003C⟧' : '⟦U+003E⟧'));
  return `<!-- for the user only\n${harmless}\n-->`;
}

type Piece = { readonly kind: 'words' | 'own'; readonly text: string };

/** Adjacent texts are one piece, because they are read back as one. */
function replyPieces(parts: readonly ResultPart[]): readonly Piece[] {
  const pieces: Piece[] = [];
  const addWords = (text: string) => {
    const last = pieces.at(-1);
    if (last?.kind === 'words') pieces[pieces.length - 1] = { ...last, text: `${last.text}\n\n${text}` };
    else pieces.push({ kind: 'words', text });
  };
  for (const part of parts) {
    if (part.kind === 'text') addWords(renderReplyText(part));
    else if (part.kind === 'asset') {
      pieces.push({ kind: 'own', text: renderAssetLink(part.asset) });
      if (part.preview !== undefined) addWords(fence(part.preview, PREVIEW_INFO));
    } else addWords(renderPart(part));
  }
  return pieces;
}

function renderReplyText({ text, source }: TextPart): string {
  if (!source) return trimBlankLines(text);
  return `> From ${codeSpan(source.uri)}\n\n${fence(text, languageOf(source.mimeType))}`;
}

/** The note that closes open code is valid only at the end; elsewhere, such text is written as code. */
function escapeText(text: string, isLast: boolean): string {
  const written = escapeReply(text);
  return isLast || withoutClosingLines(written) === written ? written : escapeReply(fence(text));
}
