/** Untrusted text must not start a turn or hide characters. Each escape is followed by its exact inverse. */

/** Broader than the marker syntax, so that a less strict parser is not fooled either. */
const LIKE_A_MARKER = /^(\\*#[ \t]*%%)/gm;
const ESCAPED_MARKER = /^\\(\\*#[ \t]*%%)/gm;

/** Adds a backslash to every line that could begin a turn. Markdown renders the line unchanged. */
export function escapeMarkers(text: string): string {
  return text.replace(LIKE_A_MARKER, '\\$1');
}

export function unescapeMarkers(text: string): string {
  return text.replace(ESCAPED_MARKER, '$1');
}

/**
 * Characters that are invisible or reorder text: controls except tab and newline, default-ignorable code points
 * (zero-width, bidirectional, tags, fillers), blank Braille, unpaired surrogates, and separators that some editors
 * treat as line ends. Also `⟦U+`, so that the escape cannot be forged.
 */
const INVISIBLE =
  /⟦(?=U\+)|[\u0000-\u0008\u000b-\u001f\u007f-\u009f\u2028\u2029\u2800\ufff9-\ufffb]|\p{Default_Ignorable_Code_Point}|\p{Surrogate}/gu;
const VISIBLE = /⟦U\+([0-9A-F]{4,6})⟧/g;
const EMOJI = /\p{Extended_Pictographic}[\ufe0f\u{1f3fb}-\u{1f3ff}]?$/u;
const STARTS_WITH_EMOJI = /^\p{Extended_Pictographic}/u;
const ZERO_WIDTH_JOINER = '\u200d';
/** Selects the emoji style of the character before it: ⚠️, 1️⃣. */
const EMOJI_STYLE = '\ufe0f';
/** With these, words of Persian, Hindi, Sinhala and other languages are spelled. */
const JOINERS = '\u200c\u200d';
const TAKES_JOINER =
  /(?=[\p{L}\p{M}])[\p{scx=Arabic}\p{scx=Bengali}\p{scx=Devanagari}\p{scx=Gujarati}\p{scx=Gurmukhi}\p{scx=Kannada}\p{scx=Khmer}\p{scx=Malayalam}\p{scx=Myanmar}\p{scx=Oriya}\p{scx=Sinhala}\p{scx=Syriac}\p{scx=Tamil}\p{scx=Telugu}]$/u;
const TAKES_STYLE = /[\p{Extended_Pictographic}\p{Emoji}]$/u;

/** Writes invisible characters as `⟦U+202E⟧`, except those that are part of an emoji or of the spelling of a word. */
export function showInvisible(text: string): string {
  return text.replace(INVISIBLE, (character, at: number) =>
    isPartOfSign(character, text, at) ? character : spellOut(character),
  );
}

export function restoreInvisible(text: string): string {
  return text.replace(VISIBLE, (written, digits: string) => {
    const code = Number.parseInt(digits, 16);
    return code <= 0x10ffff ? String.fromCodePoint(code) : written;
  });
}

/** `⟦U+202E⟧`: readable, and restored by `restoreInvisible`. */
export function spellOut(character: string): string {
  const code = character.codePointAt(0) ?? 0;
  return `⟦U+${code.toString(16).toUpperCase().padStart(4, '0')}⟧`;
}

/** Whether a character of a script is spelled with a joiner behind it. */
export function takesJoiner(text: string): boolean {
  return TAKES_JOINER.test(text);
}

function isPartOfSign(character: string, text: string, at: number): boolean {
  const before = text.slice(Math.max(0, at - 4), at);
  if (JOINERS.includes(character) && takesJoiner(before)) return true;
  if (character === EMOJI_STYLE) return TAKES_STYLE.test(before);
  return (
    character === ZERO_WIDTH_JOINER &&
    EMOJI.test(before) &&
    STARTS_WITH_EMOJI.test(text.slice(at + 1, at + 3))
  );
}

/** Returns the text unchanged if its percent encoding is invalid. */
export function decodePercent(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
