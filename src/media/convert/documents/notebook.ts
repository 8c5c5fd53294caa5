import { field, isObject } from '../../../base/json.ts';
import { ConversionError, type DocumentJob, type DocumentText } from '../job.ts';

/** A Jupyter notebook: its texts, its code, and what the code printed. */
export function readNotebook({ bytes }: DocumentJob): DocumentText {
  const notebook: unknown = JSON.parse(new TextDecoder().decode(bytes));
  const cells = field(notebook, 'cells');
  if (!Array.isArray(cells)) throw new ConversionError('it has no cells');
  const metadata = field(notebook, 'metadata');
  const language =
    field(field(metadata, 'kernelspec'), 'language') ?? field(field(metadata, 'language_info'), 'name');
  const name = typeof language === 'string' ? language : '';
  return { sections: [{ text: cells.map((cell) => cellText(cell, name)).join('\n\n') }] };
}

function cellText(cell: unknown, language: string): string {
  const source = joined(field(cell, 'source'));
  if (field(cell, 'cell_type') !== 'code') return source;
  const outputs = field(cell, 'outputs');
  const printed = (Array.isArray(outputs) ? outputs : []).map(outputText).filter((text) => text !== '');
  return [fenced(source, language), ...printed].join('\n\n');
}

function outputText(output: unknown): string {
  const data = field(output, 'data');
  if (field(output, 'output_type') === 'error')
    return fenced(`${joined(field(output, 'ename'))}: ${joined(field(output, 'evalue'))}`, 'text');
  const text = joined(field(output, 'text') ?? field(data, 'text/markdown') ?? field(data, 'text/plain'));
  const images = isObject(data) ? Object.keys(data).filter((type) => type.startsWith('image/')) : [];
  const shown = text.trim() === '' ? [] : [fenced(text.trimEnd(), 'text')];
  return [...shown, ...images.map((type) => `[output: ${type}]`)].join('\n\n');
}

/** Text is a string or a list of lines. */
function joined(value: unknown): string {
  if (typeof value === 'string') return value;
  return Array.isArray(value) ? value.filter((each) => typeof each === 'string').join('') : '';
}

function fenced(code: string, language: string): string {
  const ticks = [...code.matchAll(/`{3,}/g)].reduce((longest, [run]) => Math.max(longest, run.length + 1), 3);
  const fence = '`'.repeat(ticks);
  return `${fence}${language}\n${code}\n${fence}`;
}
