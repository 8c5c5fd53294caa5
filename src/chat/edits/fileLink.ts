import { visibleLine, withoutTerminalSequences } from '../../base/lines.ts';
import { fence, inlineCode } from '../format/fence.ts';
import { describeLines } from '../format/lineRange.ts';

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
  // A word with a meaning in a chat is not a language.
  const info = /^(?!tool_call|reasoning)[\w+#.-]+$/.test(language) ? language : 'text';
  return quoteText(
    file,
    describeLines({ first: firstLine, last: lastLine }),
    fence(text.replace(/\n$/, ''), info),
  );
}

/** A block of code below a line that says what it is. */
function quoteText(source: string, about: string, block: string): string {
  return `${inlineCode(source.replace(/[\p{C}\s]+/gu, ' ').trim())}, ${about}:\n\n${block}\n\n`;
}

export interface FileProblem {
  /** Counted from 1. */
  readonly line: number;
  readonly column: number;
  readonly severity: string;
  readonly message: string;
  /** Who found it, and its code. */
  readonly source?: string | undefined;
}

const MAX_PROBLEMS = 100;

/** One line for each problem. */
export function quoteProblems(file: string, problems: readonly FileProblem[]): string {
  const lines = problems
    .slice(0, MAX_PROBLEMS)
    .map(({ line, column, severity, message, source }) =>
      visibleLine(`${line}:${column} ${severity}: ${message}${source ? ` (${source})` : ''}`),
    );
  const more = problems.length - lines.length;
  const rest = more > 0 ? [`(and ${more} more)`] : [];
  return quoteText(file, 'problems', fence([...lines, ...rest].join('\n'), 'text'));
}

/** As much of a diff or an output as a chat should hold. */
const MAX_QUOTED_CHARS = 50_000;

export function quoteDiff(diff: string): string {
  const text = diff.replace(/\n$/, '');
  const cut = text.slice(0, MAX_QUOTED_CHARS).toWellFormed();
  const note =
    cut.length < text.length
      ? `\n[Cut: these are the first ${cut.length} of ${text.length} characters.]`
      : '';
  return quoteText('git diff', 'uncommitted changes', fence(`${cut}${note}`, 'diff'));
}

/** The end of the output of a command. */
export function quoteTerminal(run: {
  readonly command: string;
  /** As the terminal received it. */
  readonly output: string;
  readonly exitCode?: number | undefined;
}): string {
  const text = withoutTerminalSequences(run.output)
    .split('\n')
    .map(lastWritten)
    .join('\n')
    .replace(/\p{Cc}/gu, (sign) => (sign === '\n' || sign === '\t' ? sign : ''))
    .trim();
  const end = text.slice(-MAX_QUOTED_CHARS).toWellFormed();
  const note =
    end.length < text.length ? `[Cut: these are the last ${end.length} of ${text.length} characters.]\n` : '';
  const about = run.exitCode === undefined ? 'output' : `output, exit code ${run.exitCode}`;
  return quoteText(run.command, about, fence(`${note}${end}`, 'text'));
}

/** A progress line is written over by the next one. */
function lastWritten(line: string): string {
  let end = line.length;
  while (line[end - 1] === '\r') end -= 1;
  return line.slice(line.lastIndexOf('\r', end - 1) + 1, end);
}

const QUOTE =
  /^\s*`[^\n]*`, (?:lines? \d+(?:–\d+)?|problems|uncommitted changes|output(?:, exit code -?\d+)?):\n\n(`{3,})[^\n]*\n/;

/** The text after the quoted lines at the start of a turn. */
export function textAfterQuote(body: string): string {
  const head = QUOTE.exec(body);
  if (!head) return body;
  // From the last line break of the head, so that empty code is found, too.
  const end = body.indexOf(`\n${head[1]}\n`, head[0].length - 1);
  return end < 0 ? body : body.slice(end + 1 + (head[1]?.length ?? 0));
}
