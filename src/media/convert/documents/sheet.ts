import { strFromU8, unzipSync } from 'fflate';
import { readOds } from 'hucre/ods';
import { type CellValue, readXlsx, type Sheet } from 'hucre/xlsx';
import type { DocumentJob, DocumentText } from '../job.ts';
import { tagsOf } from './tags.ts';
import { checkInflated, withPart } from './zipped.ts';

/** Each sheet as CSV. */
export async function readSheets({ bytes }: DocumentJob): Promise<DocumentText> {
  const { sheets } = checkInflated(bytes).includes('content.xml')
    ? await readOds(withPart(bytes, /^content\.xml$/, withoutRowGroups))
    : // Formats take time to read, and are needed only to tell durations from dates.
      await readXlsx(withoutCharts(bytes), { readStyles: hasDurations(bytes) });
  return {
    unit: 'sheet',
    total: sheets.length,
    sections: sheets.map((sheet, at) => ({ number: at + 1, title: sheet.name, text: toCsv(sheet) })),
  };
}

/** The library skips rows that are repeated on each page, or that can be folded. */
function withoutRowGroups(xml: string): string {
  return xml.replace(/<\/?table:table-(?:header-rows|row-group)\b[^>]*>/g, '');
}

/** A sheet may be nothing but a chart. The library refuses the whole workbook then. */
function withoutCharts(bytes: Uint8Array): Uint8Array {
  const relations = 'xl/_rels/workbook.xml.rels';
  const found = unzipSync(bytes, { filter: ({ name }) => name === relations })[relations];
  const charts = tagsOf(found ? strFromU8(found) : '', 'Relationship').flatMap((relation) =>
    /\/(?:chart|dialog)sheet$/.test(relation('Type') ?? '') ? [relation('Id')] : [],
  );
  if (charts.length === 0) return bytes;
  const isChart = (tag: string) => charts.includes(tagsOf(tag, 'sheet')[0]?.('r:id'));
  return withPart(bytes, /^xl\/workbook\.xml$/, (xml) =>
    xml.replace(/<(?:\w+:)?sheet\s[^>]*>/g, (tag) => (isChart(tag) ? '' : tag)),
  );
}

/** `[h]:mm` and the like count on after 24 hours. Number 46 is one that Excel does not write out. */
const ELAPSED = /\[(?:h+|m+|s+)\]/i;

function hasDurations(bytes: Uint8Array): boolean {
  const [styles] = Object.values(unzipSync(bytes, { filter: ({ name }) => name === 'xl/styles.xml' }));
  const xml = styles === undefined ? '' : strFromU8(styles);
  return ELAPSED.test(xml) || xml.includes('numFmtId="46"');
}

function toCsv({ rows, cells }: Pick<Sheet, 'rows' | 'cells'>): string {
  const valueAt = (value: CellValue, place: string) =>
    value instanceof Date && ELAPSED.test(cells?.get(place)?.style?.numFmt ?? '') ? duration(value) : value;
  return rows
    .map((row, y) => {
      const texts = row.map((value, x) => cellText(valueAt(value, `${y},${x}`)));
      return texts.join(',').replace(/,+$/, '');
    })
    .join('\n');
}

function duration(value: Date): string {
  // The day 29 February 1900, which never was, counts.
  const first = Date.UTC(1899, 11, value < new Date(Date.UTC(1900, 2)) ? 31 : 30);
  const seconds = Math.round((value.getTime() - first) / 1000);
  const parts = [seconds / 3600, (seconds / 60) % 60, seconds % 60];
  return parts.map((part) => String(Math.floor(part)).padStart(2, '0')).join(':');
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
