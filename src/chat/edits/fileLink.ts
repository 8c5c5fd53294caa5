export interface FileLink {
  readonly label: string;
  /** A path or an address, not encoded. */
  readonly target: string;
  readonly isImage: boolean;
}

/** A Markdown link to a file that means this file and nothing else, whatever its name is. */
export function renderFileLink({ label, target, isImage }: FileLink): string {
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

/** Letters of any language stay readable; whatever means something in Markdown or in an address does not stay. */
export function encodeTarget(path: string): string {
  return path.toWellFormed().replace(/[^\p{L}\p{N}\-._~/@+,=]/gu, encodeSign);
}

/** The language's own function leaves brackets, quotes and some other signs alone. */
function encodeSign(character: string): string {
  const encoded = encodeURIComponent(character);
  return encoded === character ? `%${character.charCodeAt(0).toString(16).toUpperCase()}` : encoded;
}

/** Some lines of a file. */
export interface Quote {
  /** As people name it: a path from the workspace on. */
  readonly file: string;
  /** Counted from 1. */
  readonly firstLine: number;
  readonly lastLine: number;
  /** The name of a language, as a fence has it. */
  readonly language: string;
  readonly text: string;
}

/**
 * The lines as code that a question can follow. Only they are sent: the file's name is no link. Nothing in them ends
 * the code, so none of them starts a turn or is a call.
 */
export function quoteLines({ file, firstLine, lastLine, language, text }: Quote): string {
  const lines = firstLine === lastLine ? `line ${firstLine}` : `lines ${firstLine}–${lastLine}`;
  const fence = '`'.repeat(Math.max(3, longestRun(text) + 1));
  const code = text.endsWith('\n') ? text : `${text}\n`;
  return `${inlineCode(file)}, ${lines}:\n\n${fence}${infoFor(language)}\n${code}${fence}\n\n`;
}

const QUOTE = /^\s*`[^\n]*`, lines? \d+(?:–\d+)?:\n\n(`{3,})[^\n]*\n/;

/** What is said behind the lines that a turn begins with, if it begins with some. */
export function behindQuote(body: string): string {
  const head = QUOTE.exec(body);
  if (!head) return body;
  // The last line of the head, so that code without lines has an end too.
  const end = body.indexOf(`\n${head[1]}\n`, head[0].length - 1);
  return end < 0 ? body : body.slice(end + 1 + (head[1]?.length ?? 0));
}

/** A word that means something in a chat is not the name of a language. */
function infoFor(language: string): string {
  return /^(?!tool_call|reasoning)[\w+#.-]+$/.test(language) ? language : 'text';
}

function inlineCode(words: string): string {
  const line = words.replace(/[\p{C}\s]+/gu, ' ').trim();
  const ticks = '`'.repeat(longestRun(line) + 1);
  const gap = line.startsWith('`') || line.endsWith('`') ? ' ' : '';
  return `${ticks}${gap}${line}${gap}${ticks}`;
}

function longestRun(text: string): number {
  let longest = 0;
  for (const [run] of text.matchAll(/`+/g)) longest = Math.max(longest, run.length);
  return longest;
}
