import { constants } from 'node:fs';
import { type FileHandle, lstat, open } from 'node:fs/promises';
import { join } from 'node:path';
import { fillBuffer, statOf, withFile } from '../assets/confined.ts';
import { withHandle } from '../assets/writeFile.ts';
import { hasCode } from '../base/errors.ts';
import { field, parseJson } from '../base/json.ts';
import { visibleLine } from '../base/lines.ts';
import { CHAT_ENDING, chatIdProblem, isAssetFileName } from './entry.ts';
import { FileMemory } from './fileMemory.ts';

/** In `cmdassets/`: what clients said about the files that they saved there, one JSON object per line. */
export const SAVED_FILE = 'saved.jsonl';

/** Older lines of a longer file are not read. */
const MAX_READ_BYTES = 4 * 1024 * 1024;
const MAX_LINE_CHARS = 4_096;
const MAX_NAME_CHARS = 200;

export interface SavedAsset {
  readonly name?: string | undefined;
  /** The file name of the chat beside `cmdassets/`. */
  readonly chat?: string | undefined;
  /** The name and version of the client. */
  readonly by?: string | undefined;
}

/** By the file name of the asset. */
export type SavedAssets = ReadonlyMap<string, SavedAsset>;

/** Parses each version of the file once. */
export class SavedMemory {
  readonly #files = new FileMemory<SavedAssets>();

  /** `folder` is the real path of a `cmdassets/`. An unreadable file counts as empty. */
  async read(folder: string): Promise<SavedAssets> {
    const path = join(folder, SAVED_FILE);
    const stats = await statOf(path);
    if (!stats?.isFile()) return new Map();
    return this.#files.read(path, stats, async () => parseSaved(await readEnd(path).catch(() => '')));
  }

  keepOnly(folders: ReadonlySet<string>): void {
    this.#files.keepOnly(new Set([...folders].map((folder) => join(folder, SAVED_FILE))));
  }
}

/** Ignores everything that is not a valid record. The last record of an asset counts. */
export function parseSaved(text: string): SavedAssets {
  const saved = new Map<string, SavedAsset>();
  for (const line of text.split('\n')) {
    const record = line.length <= MAX_LINE_CHARS ? parseJson(line) : undefined;
    const asset = field(record, 'asset');
    if (typeof asset !== 'string' || !isAssetFileName(asset)) continue;
    const chat = field(record, 'chat');
    saved.set(asset, {
      name: shortText(field(record, 'name')),
      chat: typeof chat === 'string' && isChatName(chat) ? chat : undefined,
      by: shortText(field(record, 'by')),
    });
  }
  return saved;
}

function isChatName(name: string): boolean {
  return name.endsWith(CHAT_ENDING) && !name.includes('/') && chatIdProblem(name) === undefined;
}

function shortText(value: unknown): string | undefined {
  return typeof value === 'string' ? visibleLine(value).slice(0, MAX_NAME_CHARS) || undefined : undefined;
}

async function readEnd(path: string): Promise<string> {
  return withFile(path, async (file, { size }) => {
    const from = Math.max(0, Number(size) - MAX_READ_BYTES);
    const bytes = Buffer.alloc(Number(size) - from);
    return bytes.subarray(0, await fillBuffer(file, bytes, from)).toString();
  });
}

/** A pipe or a link of this name is never written to. Windows has neither flag. */
const APPEND =
  constants.O_RDWR |
  constants.O_APPEND |
  constants.O_CREAT |
  (constants.O_NOFOLLOW ?? 0) |
  (constants.O_NONBLOCK ?? 0);

/** Appends one line with a single write, so that the lines of concurrent writers do not mix. */
export async function recordSaved(
  folder: string,
  asset: string,
  { name, chat, by }: SavedAsset,
  time: Date = new Date(),
): Promise<void> {
  const path = join(folder, SAVED_FILE);
  const line = `${JSON.stringify({ asset, name, chat, by, time: time.toISOString() })}\n`;
  const before = await lstat(path).catch((error: unknown) => {
    if (!hasCode(error, 'ENOENT')) throw error;
  });
  if (before && !before.isFile()) throw new Error(`${SAVED_FILE} is not a regular file`);
  await withHandle(open(path, APPEND, 0o644), async (file) => {
    // A writer that was killed may have left half a line.
    await file.write(Buffer.from((await endsInLine(file)) ? line : `\n${line}`));
    await file.datasync();
  });
}

async function endsInLine(file: FileHandle): Promise<boolean> {
  const { size } = await file.stat();
  if (size === 0) return true;
  const { buffer } = await file.read(Buffer.alloc(1), 0, 1, size - 1);
  return buffer.toString() === '\n';
}
