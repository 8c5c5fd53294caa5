import { readOds } from 'hucre/ods';
import { type CellValue, readXlsx } from 'hucre/xlsx';
import type { DocumentJob, DocumentText } from '../job.ts';
import { checkInflated } from './zipped.ts';

/** Each sheet as CSV. */
export async function readSheets({ bytes }: DocumentJob): Promise<DocumentText> {
  const isOpenDocument = checkInflated(bytes).includes('content.xml');
  const { sheets } = isOpenDocument ? await readOds(bytes) : await readXlsx(bytes);
  return {
    unit: 'sheet',
    total: sheets.length,
    sections: sheets.map(({ name, rows }, at) => ({ number: at + 1, title: name, text: toCsv(rows) })),
  };
}

function toCsv(rows: readonly (readonly CellValue[])[]): string {
  return rows.map((row) => row.map(cellText).join(',').replace(/,+$/, '')).join('\n');
}

function cellText(value: CellValue): string {
  const text = plain(value);
  return /[",\n\r]/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
}

function plain(value: CellValue): string {
  if (value === null || value === undefined) return '';
  // A date without a time is midnight in UTC.
  if (value instanceof Date) return value.toISOString().replace(/T00:00:00\.000Z$/, '');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}
