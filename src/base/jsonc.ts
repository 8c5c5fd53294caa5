/**
 * Parses JSON as editors write it: with comments, trailing commas and a byte order mark.
 * Throws a SyntaxError, as JSON.parse does; its position counts in the given text, because what is taken out
 * is replaced by blanks of the same length.
 */
export function parseJsonWithComments(text: string): unknown {
  return JSON.parse(blankTrailingCommas(blankComments(text.replace(/^\uFEFF/, ' '))));
}

// A string comes first in each pattern, so that what looks like a comment or a comma inside one is skipped whole.
const STRING_OR_COMMENT = /"(?:[^"\\\n]|\\.)*"|\/\/[^\r\n]*|\/\*[\s\S]*?\*\//g;
const STRING_OR_TRAILING_COMMA = /"(?:[^"\\\n]|\\.)*"|,(?=\s*[}\]])/g;

function blankComments(text: string): string {
  return text.replace(STRING_OR_COMMENT, keepString);
}

function blankTrailingCommas(text: string): string {
  return text.replace(STRING_OR_TRAILING_COMMA, keepString);
}

function keepString(found: string): string {
  return found.startsWith('"') ? found : found.replace(/[^\r\n]/g, ' ');
}
