import { zipSync } from 'fflate';
import { drawChart } from '../../../samples/server/chart.ts';
import { encodePng } from '../../../samples/server/encode/png.ts';
import { encodeWav } from '../../../samples/server/encode/wav.ts';
import { readSampleFile } from '../../../samples/server/files.ts';
import { writeReport } from '../../../samples/server/report.ts';
import { png } from '../result/samples.ts';

export const SAMPLES = {
  png: () => encodePng(drawChart({ title: 'Sample', values: [1, 2], style: 'bars' })),
  jpg: () => readSampleFile('landscape.jpg'),
  gif: () => readSampleFile('bounce.gif'),
  webp: () => readSampleFile('badge.webp'),
  wav: () => encodeWav(SOUND),
  mp3: () => readSampleFile('jingle.mp3'),
  pdf: () => writeReport(),
  zip: () => zipSync({ 'a.txt': Buffer.from('hello') }, { mtime: new Date(2026, 0, 1) }),
} satisfies Record<string, () => Uint8Array>;

const SOUND = { samples: new Float64Array([0, 0.5, -0.5, 0]), sampleRate: 8000 };

/** The bytes around the pixels of an image of one chunk. */
const FRAME_BYTES = png(1, 1, new Uint8Array()).length;

/** An image of exactly this many bytes. */
export function pngOfSize(byteCount: number): Buffer {
  return png(64, 64, Buffer.alloc(byteCount - FRAME_BYTES, 7));
}

const wrapped = (text: string) => text.replace(/.{76}/g, '$&\r\n');

/** The ways in which people write the same bytes. */
export const BASE64_FORMS: Readonly<Record<string, (bytes: Uint8Array) => string>> = {
  plain: (bytes) => Buffer.from(bytes).toString('base64'),
  'URL-safe': (bytes) => Buffer.from(bytes).toString('base64url'),
  'without padding': (bytes) => Buffer.from(bytes).toString('base64').replace(/=+$/, ''),
  'in lines': (bytes) => wrapped(Buffer.from(bytes).toString('base64')),
  'a data: URL': (bytes) => `data:image/png;base64,${Buffer.from(bytes).toString('base64')}`,
  'a data: URL with parameters': (bytes) =>
    `data:text/plain;charset=utf-8;base64,${Buffer.from(bytes).toString('base64')}`,
};
