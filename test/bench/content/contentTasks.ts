/** The content helpers with one image, and the bare work without them. */
import { randomBytes } from 'node:crypto';
import { readFile } from 'node:fs/promises';
import { dirname } from 'node:path';
import { normalizeResult, toImageContent } from '../../../src/content/index.ts';

/** The forms in which a tool may have an image. */
export interface Forms {
  readonly bytes: Buffer;
  readonly base64: string;
  readonly path: string;
}

export interface ContentTask {
  readonly what: string;
  readonly form: keyof Forms;
  readonly ours: (forms: Forms) => unknown;
  /** The bare work, without checks and type detection. */
  readonly against: string;
  readonly plain: (forms: Forms) => unknown;
}

const ENCODE = {
  form: 'bytes',
  against: "toString('base64')",
  plain: ({ bytes }: Forms) => bytes.toString('base64'),
} as const;

export const CONTENT_TASKS: readonly ContentTask[] = [
  { what: 'toImageContent of a Buffer', ...ENCODE, ours: ({ bytes }) => toImageContent(bytes) },
  {
    what: 'toImageContent of base64',
    form: 'base64',
    ours: ({ base64 }) => toImageContent(base64),
    against: "Buffer.from(…, 'base64')",
    plain: ({ base64 }) => Buffer.from(base64, 'base64'),
  },
  {
    what: 'toImageContent of a file',
    form: 'path',
    ours: ({ path }) => toImageContent({ type: 'file', path }, { basePath: dirname(path) }),
    against: "readFile, toString('base64')",
    plain: async ({ path }) => (await readFile(path)).toString('base64'),
  },
  { what: 'normalizeResult of a Buffer', ...ENCODE, ours: ({ bytes }) => normalizeResult(bytes) },
];

/** Keeps only the requested form in memory. */
export async function loadForms(path: string, form: keyof Forms): Promise<Forms> {
  const bytes = form === 'bytes' ? await readFile(path) : Buffer.alloc(0);
  const base64 = form === 'base64' ? await readFile(path, 'base64') : '';
  return { bytes, base64, path };
}

const HEAD = Buffer.from('89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489', 'hex');
const END = Buffer.from('0000000049454e44ae426082', 'hex');
const CHUNK_FRAME_BYTES = 12;

/** A whole PNG of exactly this many bytes; its pixels are noise. */
export function noisyPng(totalBytes: number): Buffer {
  const png = randomBytes(totalBytes);
  HEAD.copy(png);
  png.writeUInt32BE(totalBytes - HEAD.length - CHUNK_FRAME_BYTES - END.length, HEAD.length);
  png.write('IDAT', HEAD.length + 4, 'latin1');
  END.copy(png, totalBytes - END.length);
  return png;
}
