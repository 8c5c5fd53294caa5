import type { McpServer } from '@modelcontextprotocol/sdk/server/mcp.js';
import { zipSync } from 'fflate';
import {
  type ResourceContents,
  type ToolResultContent,
  toResourceContents,
} from '../../src/content/index.ts';
import { readSampleFile } from './files.ts';
import { writeReport } from './report.ts';

/** A document of this server: tools embed it or point at it, and clients can read it by its address. */
export interface SampleResource {
  readonly name: string;
  readonly uri: string;
  readonly title: string;
  readonly description: string;
  readonly mimeType: string;
  readonly read: () => string | Uint8Array;
}

export const REPORT: SampleResource = {
  name: 'quarterly.pdf',
  uri: 'sample://reports/quarterly.pdf',
  title: 'Quarterly report',
  description: 'One page with text and a bar chart.',
  mimeType: 'application/pdf',
  read: writeReport,
};

export const ARCHIVE: SampleResource = {
  name: 'data.zip',
  uri: 'sample://archives/data.zip',
  title: 'Sample data',
  description: 'A text file and a table, packed together.',
  mimeType: 'application/zip',
  read: () =>
    zipSync(
      {
        'README.txt': Buffer.from('Two files, packed by the Filechat sample server.\n'),
        'data/readings.csv': Buffer.from(writeReadings()),
      },
      // The first day that ZIP can write, so that the archive is always the same.
      { mtime: new Date(1980, 0, 1) },
    ),
};

export const NOTES: SampleResource = {
  name: 'meeting.md',
  uri: 'sample://notes/meeting.md',
  title: 'Meeting notes',
  description: 'Notes in Markdown.',
  mimeType: 'text/markdown',
  read: () =>
    [
      '# Meeting notes',
      '',
      '- The chart goes on the **first** page.',
      '- Audio is optional.',
      '',
      '| who | does |',
      '|---|---|',
      '| Ada | the numbers |',
      '| Grace | the compiler |',
      '',
    ].join('\n'),
};

export const READINGS: SampleResource = {
  name: 'readings.csv',
  uri: 'sample://data/readings.csv',
  title: 'Readings of one day',
  description: 'The temperature of each hour, as a table.',
  mimeType: 'text/csv',
  read: writeReadings,
};

export const PHOTO: SampleResource = {
  name: 'landscape.jpg',
  uri: 'sample://media/landscape.jpg',
  title: 'Landscape',
  description: 'A photo as JPEG.',
  mimeType: 'image/jpeg',
  read: () => readSampleFile('landscape.jpg'),
};

export const JINGLE: SampleResource = {
  name: 'jingle.mp3',
  uri: 'sample://media/jingle.mp3',
  title: 'Jingle',
  description: 'A short melody as MP3.',
  mimeType: 'audio/mpeg',
  read: () => readSampleFile('jingle.mp3'),
};

function writeReadings(): string {
  const rows = Array.from({ length: 24 }, (_, hour) => {
    const degrees = 15 - 6 * Math.cos(((hour - 3) / 24) * 2 * Math.PI);
    return `${hour},${degrees.toFixed(1)}`;
  });
  return `${['hour,celsius', ...rows].join('\n')}\n`;
}

export function registerResources(server: McpServer): void {
  for (const resource of [REPORT, ARCHIVE, NOTES, READINGS, PHOTO, JINGLE]) {
    const { name, uri, title, description, mimeType } = resource;
    server.registerResource(name, uri, { title, description, mimeType }, () => ({
      contents: [readContents(resource)],
    }));
  }
}

export function embedResource(resource: SampleResource): ToolResultContent {
  return { type: 'resource', resource: readContents(resource) };
}

export function linkResource({
  name,
  uri,
  title,
  description,
  mimeType,
  read,
}: SampleResource): ToolResultContent {
  return { type: 'resource_link', name, uri, title, description, mimeType, size: Buffer.from(read()).length };
}

function readContents({ uri, mimeType, read }: SampleResource): ResourceContents {
  return toResourceContents(read(), { uri, mimeType });
}
