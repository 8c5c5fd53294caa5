/**
 * Foreign text must not be able to start a turn, and nobody must be able to hide words in it.
 * Each function here has its exact inverse beside it.
 */

/** A wider net than what counts as a marker, so that a later, looser reader is not fooled either. */
const LIKE_A_MARKER = /^(\\*#[ \t]*%%)/gm;
const ESCAPED_MARKER = /^\\(\\*#[ \t]*%%)/gm;

/** Puts a backslash before every line that could begin a turn; Markdown shows the line as it was. */
export function escapeMarkers(text: string): string {
  return text.replace(LIKE_A_MARKER, '\\$1');
}

export function unescapeMarkers(text: string): string {
  return text.replace(ESCAPED_MARKER, '$1');
}

/**
 * Characters that a reader cannot see or that reorder what a reader sees: controls but tab and
 * newline, zero-width and bidirectional controls, tags, lone surrogates, and the separators that some
 * editors take for the end of a line. Also our own escape, so that it cannot be forged.
 */
const INVISIBLE =
  /⟦(?=U\+)|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u00ad\u061c\u115f\u1160\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\u3164\ufeff\uffa0\ufff0-\ufffb]|[\u{e0000}-\u{e0fff}]|\p{Surrogate}/gu;
const VISIBLE = /⟦U\+([0-9A-F]{4,6})⟧/g;
const EMOJI = /\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?$/u;
const STARTS_WITH_EMOJI = /^\p{Extended_Pictographic}/u;
const ZERO_WIDTH_JOINER = '\u200d';

/** Writes what cannot be seen as `⟦U+202E⟧`. The joiner within an emoji is left alone. */
export function showInvisible(text: string): string {
  return text.replace(INVISIBLE, (character, at: number) =>
    character === ZERO_WIDTH_JOINER && joinsEmoji(text, at) ? character : visible(character),
  );
}

export function restoreInvisible(text: string): string {
  return text.replace(VISIBLE, (written, digits: string) => {
    const code = Number.parseInt(digits, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : written;
  });
}

function visible(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `⟦U+${code.toString(16).toUpperCase().padStart(4, '0')}⟧`;
}

function joinsEmoji(text: string, at: number): boolean {
  return (
    EMOJI.test(text.slice(Math.max(0, at - 4), at)) && STARTS_WITH_EMOJI.test(text.slice(at + 1, at + 3))
  );
}
