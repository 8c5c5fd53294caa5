import { existsSync, readFileSync } from 'node:fs';

/** In the sources, and beside the bundle in `dist/`. */
const FOLDERS = ['files/', '../samples/server/files/'].map((path) => new URL(path, import.meta.url));

/** A file that comes with the sample server. */
export function readSampleFile(
  name: 'badge.webp' | 'bounce.gif' | 'jingle.mp3' | 'landscape.jpg',
): Uint8Array {
  const folder = FOLDERS.find((each) => existsSync(each));
  return readFileSync(new URL(name, folder));
}
