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
  if (value instanceof Date) return moment(value);
  if (typeof value === 'string') return value.replace(DURATION, '$1:$2:$3');
  return typeof value === 'object' ? JSON.stringify(value) : String(value);
}

/** A time of day in OpenDocument. */
const DURATION = /^PT(\d{2,})H(\d\d)M(\d\d)(?:\.0+)?S$/;

/** Dates of sheets have no time zone. A date without a time is midnight, and a time without a date is before 1900. */
function moment(value: Date): string {
  const [date = '', time = ''] = value
    .toISOString()
    .replace(/(?:\.000)?Z$/, '')
    .split('T');
  if (value.getUTCFullYear() < 1900) return time;
  return time === '00:00:00' ? date : `${date} ${time}`;
}
