import { fence, inlineCode } from '../format/fence.ts';

export function renderFileLink(link: {
  readonly label: string;
  readonly target: string;
  readonly isImage: boolean;
}): string {
  const { label, target, isImage } = link;
  return `${isImage ? '!' : ''}[${renderLabel(label)}](${target})`;
}

const MAX_LABEL_CHARS = 100;

function renderLabel(label: string): string {
  const line = label
    .normalize('NFC')
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  const cut = Array.from(line).slice(0, MAX_LABEL_CHARS).join('');
  return cut.replace(/[\\`*_[\]<>!&$]/g, '\\$&') || 'file';
}

/** Keeps letters of all languages readable and encodes everything with a meaning in Markdown or URLs. */
export function encodeTarget(path: string): string {
  return path.toWellFormed().replace(/[^\p{L}\p{N}\-._~/@+,=]/gu, encodeSign);
}

/** `encodeURIComponent` does not encode parentheses, quotes and a few other characters. */
function encodeSign(character: string): string {
  const encoded = encodeURIComponent(character);
  return encoded === character ? `%${character.charCodeAt(0).toString(16).toUpperCase()}` : encoded;
}

/** The file name is not a link, so only these lines are sent. They cannot close the fence. */
export function quoteLines(quote: {
  /** A path relative to the workspace. */
  readonly file: string;
  /** Counted from 1. */
  readonly firstLine: number;
  readonly lastLine: number;
  readonly language: string;
  readonly text: string;
}): string {
  const { file, firstLine, lastLine, language, text } = quote;
  const lines = firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine}–${lastLine}`;
  // A word with a meaning in a chat is not a language.
  const info = /^(?!tool_call|reasoning)[\w+#.-]+$/.test(language) ? language : 'text';
  const name = inlineCode(file.replace(/[\p{C}\s]+/gu, ' ').trim());
  return `${name}, ${lines}:\n\n${fence(text.replace(/\n$/, ''), info)}\n\n`;
}

const QUOTE = /^\s*`[^\n]*`, lines? \d+(?:–\d+)?:\n\n(`{3,})[^\n]*\n/;

/** The text after the quoted lines at the start of a turn. */
export function textAfterQuote(body: string): string {
  const head = QUOTE.exec(body);
  if (!head) return body;
  // From the last line break of the head, so that empty code is found, too.
  const end = body.indexOf(`\n${head[1]}\n`, head[0].length - 1);
  return end < 0 ? body : body.slice(end + 1 + (head[1]?.length ?? 0));
}
