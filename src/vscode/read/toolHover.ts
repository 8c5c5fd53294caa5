import { showInvisible } from '../../chat/format/escape.ts';
import { askableArguments } from '../../mcp/schema/arguments.ts';
import type { ArgumentQuestion } from '../../mcp/schema/question.ts';
import type { ToolInfo } from '../../ports/tools.ts';

/** Translated labels. */
export interface ToolHoverWords {
  readonly argument: string;
  readonly type: string;
  readonly required: string;
  readonly meaning: string;
  readonly yes: string;
  readonly noArguments: string;
  readonly readOnly: string;
  readonly destructive: string;
  readonly more: (count: number) => string;
}

const MAX_DESCRIPTION_CHARS = 1_000;
const MAX_CELL_CHARS = 200;
const MAX_NAME_CHARS = 100;
const MAX_ROWS = 30;
const MAX_CHOICES = 8;

/** A tool as Markdown, with all text of the server escaped. */
export function toolHoverText(tool: ToolInfo, words: ToolHoverWords): string {
  const name = `**${plainMarkdown(`${tool.server}.${tool.tool}`, MAX_NAME_CHARS)}**`;
  const title =
    tool.title && tool.title !== tool.tool ? ` — ${plainMarkdown(tool.title, MAX_NAME_CHARS)}` : '';
  const claims = [
    ...(tool.readOnly ? [words.readOnly] : []),
    ...(tool.destructive && !tool.readOnly ? [words.destructive] : []),
  ];
  return [
    `${name}${title}`,
    ...(tool.description ? [plainMarkdown(tool.description, MAX_DESCRIPTION_CHARS)] : []),
    ...(claims.length > 0 ? [`*${claims.join(' ')}*`] : []),
    argumentTable(askableArguments(tool.inputSchema), words),
  ].join('\n\n');
}

function argumentTable(all: readonly ArgumentQuestion[], words: ToolHoverWords): string {
  if (all.length === 0) return `*${words.noArguments}*`;
  const head = `| ${[words.argument, words.type, words.required, words.meaning].join(' | ')} |`;
  const rows = all.slice(0, MAX_ROWS).map((each) => {
    const cells = [
      `**${plainMarkdown(each.name, MAX_NAME_CHARS)}**`,
      plainMarkdown(typeOf(each), MAX_CELL_CHARS),
      each.required ? words.yes : '',
      plainMarkdown(each.description ?? '', MAX_CELL_CHARS),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const more = all.length > MAX_ROWS ? [`\n${words.more(all.length - MAX_ROWS)}`] : [];
  return [head, '|:-|:-|:-|:-|', ...rows, ...more].join('\n');
}

/** Uses JSON type names, because arguments are written in JSON. */
function typeOf(question: ArgumentQuestion): string {
  switch (question.kind) {
    case 'choice':
      return choicesOf(question.choices.map(({ text }) => text));
    case 'choices':
      return `[${choicesOf(question.choices.map(({ text }) => text))}]`;
    case 'yesNo':
      return 'boolean';
    case 'number':
      return question.integer ? 'integer' : 'number';
    case 'text':
      return question.format ?? 'string';
    case 'json':
      return question.shape ?? 'JSON';
  }
}

function choicesOf(texts: readonly string[]): string {
  const shown = texts.slice(0, MAX_CHOICES).join(' | ');
  return texts.length > MAX_CHOICES ? `${shown} | …` : shown;
}

/** Untrusted text as one line of Markdown, with all punctuation escaped. */
export function plainMarkdown(text: string, maxChars: number): string {
  const line = showInvisible(
    text
      .slice(0, maxChars * 4)
      .replace(/\s+/g, ' ')
      .trim(),
  );
  const cut = line.length > maxChars ? `${line.slice(0, maxChars).toWellFormed()}…` : line;
  return cut.replace(/[!-/:-@[-`{-~]/g, '\\$&');
}
