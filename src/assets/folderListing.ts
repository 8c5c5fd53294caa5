import { lstat, readdir, realpath } from 'node:fs/promises';
import { join } from 'node:path';
import { visibleLine } from '../base/lines.ts';
import { describeSize } from '../base/size.ts';

export interface ListingLimits {
  readonly maxEntries: number;
  readonly maxDepth: number;
}

const LIMITS: ListingLimits = { maxEntries: 300, maxDepth: 4 };
/** Their content is large, and rarely what a listing is for. */
const SKIPPED_FOLDERS: ReadonlySet<string> = new Set(['.git', 'node_modules']);

interface ListedFolder {
  /** Undefined if the folder is skipped, too deep, or cannot be read. */
  entries?: readonly ListedEntry[];
  /** The number of entries beyond the limit. */
  more: number;
}

interface ListedEntry {
  readonly name: string;
  /** The size of a file, or what else it is. */
  readonly about: string;
  readonly folder?: ListedFolder;
}

/**
 * The names of files and folders below a real path, with the sizes of files, indented. The upper levels are listed
 * first, so that one deep folder does not use up the limit. Symbolic links are named and not followed.
 */
export async function listFolder(
  path: string,
  { maxEntries, maxDepth }: ListingLimits = LIMITS,
  signal?: AbortSignal,
): Promise<string> {
  const root: ListedFolder = { more: 0 };
  let left = maxEntries;
  let level = [{ path, folder: root }];
  for (let depth = 0; depth < maxDepth; depth += 1) {
    const next: typeof level = [];
    for (const { path: each, folder } of level) {
      signal?.throwIfAborted();
      if (left === 0) break;
      const names = await readNames(each, { mustRead: folder === root });
      if (!names) continue;
      const shown = names.slice(0, left);
      left -= shown.length;
      folder.more = names.length - shown.length;
      folder.entries = await Promise.all(shown.map((name) => describeEntry(each, name)));
      for (const { name, folder: below } of folder.entries)
        if (below && !SKIPPED_FOLDERS.has(name.toLowerCase()))
          next.push({ path: join(each, name), folder: below });
    }
    level = next;
  }
  return renderFolder(root, '').join('\n');
}

async function readNames(path: string, { mustRead }: { readonly mustRead: boolean }) {
  try {
    // A folder that has become a link would lead elsewhere.
    if ((await realpath(path)) !== path) return undefined;
    return (await readdir(path)).sort();
  } catch (error) {
    if (mustRead) throw error;
    return undefined;
  }
}

async function describeEntry(folder: string, name: string): Promise<ListedEntry> {
  const stats = await lstat(join(folder, name)).catch(() => undefined);
  if (stats?.isDirectory()) return { name, about: '', folder: { more: 0 } };
  if (stats?.isSymbolicLink()) return { name, about: 'symbolic link' };
  return { name, about: stats?.isFile() ? describeSize(stats.size) : 'not a regular file' };
}

function renderFolder({ entries = [], more }: ListedFolder, indent: string): readonly string[] {
  const lines = entries.flatMap(({ name, about, folder }) => {
    const shown = `${indent}${visibleLine(name)}`;
    if (!folder) return [`${shown}  ${about}`];
    if (!folder.entries) return [`${shown}/  (not listed)`];
    if (folder.entries.length === 0 && folder.more === 0) return [`${shown}/  (empty)`];
    return [`${shown}/`, ...renderFolder(folder, `${indent}  `)];
  });
  return more > 0 ? [...lines, `${indent}(and ${more} more)`] : lines;
}
