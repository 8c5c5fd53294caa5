import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import type { ArgumentQuestion } from '../../mcp/schema/answer.ts';
import { argumentQuestions } from '../../mcp/schema/arguments.ts';
import type { ToolInfo } from '../../ports/tools.ts';
import { truncate } from '../ui/plainMessage.ts';
import { t } from '../ui/words.ts';

const MAX_DESCRIPTION_CHARS = 1_000;
const MAX_CELL_CHARS = 200;
const MAX_NAME_CHARS = 100;
const MAX_ROWS = 30;
const MAX_CHOICES = 8;

/** A tool as Markdown, with all text of the server escaped. */
export function toolHoverText(tool: ToolInfo): string {
  const name = `**${plainMarkdown(`${tool.server}.${tool.tool}`, MAX_NAME_CHARS)}**`;
  const title =
    tool.title && tool.title !== tool.tool ? ` — ${plainMarkdown(tool.title, MAX_NAME_CHARS)}` : '';
  const claims = [
    ...(tool.readOnly ? [t('Only reads data, according to the server.')] : []),
    ...(tool.destructive && !tool.readOnly
      ? [t('May delete or overwrite data, according to the server.')]
      : []),
  ];
  return [
    `${name}${title}`,
    ...(tool.description ? [plainMarkdown(tool.description, MAX_DESCRIPTION_CHARS)] : []),
    ...(claims.length > 0 ? [`*${claims.join(' ')}*`] : []),
    argumentTable(argumentQuestions(tool.inputSchema)),
  ].join('\n\n');
}

function argumentTable(all: readonly ArgumentQuestion[]): string {
  if (all.length === 0) return `*${t('This tool takes no arguments.')}*`;
  const head = `| ${[t('Argument'), t('Type'), t('Required'), t('Description')].join(' | ')} |`;
  const rows = all.slice(0, MAX_ROWS).map((each) => {
    const cells = [
      `**${plainMarkdown(each.name, MAX_NAME_CHARS)}**`,
      plainMarkdown(typeOf(each), MAX_CELL_CHARS),
      each.required ? t('yes') : '',
      plainMarkdown(each.description ?? '', MAX_CELL_CHARS),
    ];
    return `| ${cells.join(' | ')} |`;
  });
  const more = all.length > MAX_ROWS ? [`\n${t('and {0} more', all.length - MAX_ROWS)}`] : [];
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
  const start = text.slice(0, maxChars * 4).replace(/\s+/g, ' ');
  return truncate(showInvisible(start.trim()), maxChars).replace(/[!-/:-@[-`{-~]/g, '\\$&');
}
