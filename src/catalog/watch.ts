import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import { hasCode } from '../base/errors.ts';
import { ASSET_FOLDER } from '../base/names.ts';
import type { Disposable } from '../ports/document.ts';

import { CHAT_ENDING, folderNameProblem, isAssetFileName } from './address.ts';
import type { Catalog, Snapshot } from './catalog.ts';
import type { Entry } from './entry.ts';
import { mapAtMost, statOf } from './walk.ts';

export interface CatalogChange {
  /** Something has come, gone, or is called otherwise. */
  readonly list: boolean;
  /** What is still there and is not what it was. */
  readonly updated: readonly string[];
}

export interface WatchOptions {
  /** How long changes are gathered before they are looked at. */
  readonly gatherMs?: number;
  /** How often is looked where the system does not tell. */
  readonly pollMs?: number;
  /** Told once when folders cannot be watched. */
  readonly onNote?: (note: string) => void;
  /** How the system is asked to tell of changes in a folder itself. */
  readonly watchFolder?: WatchFolder;
}

export type WatchFolder = (path: string, onEvent: (event: string, name: string | null) => void) => FSWatcher;

/** Tells what has changed, once for many changes that come together. Keeps no process alive. */
export async function watchCatalog(
  catalog: Catalog,
  onChange: (change: CatalogChange) => void,
  options: WatchOptions = {},
): Promise<Disposable> {
  const watching = new CatalogWatch(catalog, onChange, options);
  await watching.start();
  return watching;
}

/** What is different between two snapshots; nothing when they are alike. */
function changeBetween(before: Snapshot, after: Snapshot): CatalogChange | undefined {
  const known = new Map(before.entries.map((entry) => [entry.uri, entry]));
  const list =
    before.entries.length !== after.entries.length ||
    after.entries.some((entry) => calledAs(known.get(entry.uri)) !== calledAs(entry));
  const updated = after.entries
    .map(({ uri }) => uri)
    .filter((uri) => known.has(uri) && before.versions.get(uri) !== after.versions.get(uri));
  return list || updated.length > 0 ? { list, updated } : undefined;
}

function calledAs(entry: Entry | undefined): string {
  if (!entry) return '';
  return JSON.stringify(entry.kind === 'chat' ? [entry.title] : [entry.name, entry.tool]);
}

const GATHER_MS = 100;
const POLL_MS = 2_000;
/** Of all time, no more than this share is spent with looking. */
const MAX_SHARE = 1 / 4;
/** Looks in a row, each because the one before has found new folders. */
const MAX_LOOKS = 5;
const STATS_AT_ONCE = 64;

interface Watched {
  readonly watcher: FSWatcher;
  /** Another folder may take the place of one that is watched. */
  readonly ino: number;
}

class CatalogWatch implements Disposable {
  readonly #catalog: Catalog;
  readonly #onChange: (change: CatalogChange) => void;
  readonly #options: WatchOptions;
  readonly #watched = new Map<string, Watched>();
  #known: Snapshot | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isLooking = false;
  /** Something may have changed since the last look began. */
  #isStale = false;
  /** Some folder cannot be watched. */
  #isBlind = false;
  #hasTold = false;
  #isDisposed = false;
  #tookMs = 0;

  constructor(catalog: Catalog, onChange: (change: CatalogChange) => void, options: WatchOptions) {
    this.#catalog = catalog;
    this.#onChange = onChange;
    this.#options = options;
  }

  async start(): Promise<void> {
    await this.#lookAndTell();
  }

  dispose(): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    for (const path of [...this.#watched.keys()]) this.#unwatch(path);
  }

  /** The first change of many starts the clock. */
  #changed(): void {
    if (this.#isStale) return;
    this.#isStale = true;
    if (!this.#isLooking) this.#lookIn(this.#options.gatherMs ?? GATHER_MS);
  }

  #lookIn(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isDisposed) return;
    const pauseMs = Math.max(ms, this.#tookMs * (1 / MAX_SHARE - 1));
    this.#timer = setTimeout(() => void this.#lookAndTell(), pauseMs).unref();
  }

  async #lookAndTell(): Promise<void> {
    const before = this.#known;
    const began = performance.now();
    this.#isLooking = true;
    const after = await this.#look().catch(() => undefined);
    this.#isLooking = false;
    this.#tookMs = performance.now() - began;
    if (this.#isDisposed) return;
    this.#known = after ?? before;
    if (this.#isStale) this.#lookIn(this.#options.gatherMs ?? GATHER_MS);
    else if (this.#isBlind || !after?.isComplete) this.#lookIn(this.#options.pollMs ?? POLL_MS);
    const change = before && after && changeBetween(before, after);
    if (change) this.#onChange(change);
  }

  /** Looks again as long as there are new folders: something may have come into them before they were watched. */
  async #look(): Promise<Snapshot> {
    for (let looks = 1; ; looks += 1) {
      this.#isStale = false;
      const snapshot = await this.#catalog.snapshot();
      const watchesMore = await this.#watch(snapshot.folders);
      if (!watchesMore) return snapshot;
      if (looks === MAX_LOOKS) {
        this.#isStale = true;
        return snapshot;
      }
    }
  }

  /** Says whether any of these was not watched before. */
  async #watch(folders: readonly string[]): Promise<boolean> {
    const stats = await mapAtMost(STATS_AT_ONCE, folders, statOf);
    if (this.#isDisposed) return false;
    const inodes = new Map(folders.map((path, index) => [path, stats[index]?.ino]));
    for (const [path, { ino }] of [...this.#watched]) if (inodes.get(path) !== ino) this.#unwatch(path);
    this.#isBlind = false;
    let watchesMore = false;
    for (const [path, ino] of inodes) {
      if (ino === undefined) this.#isStale = true;
      else if (!this.#watched.has(path)) watchesMore = this.#watchOne(path, ino) || watchesMore;
    }
    return watchesMore;
  }

  #watchOne(path: string, ino: number): boolean {
    try {
      const watcher = (this.#options.watchFolder ?? watchFolder)(path, (event, name) => {
        if (matters(path, event, name)) this.#changed();
      });
      watcher.on('error', () => {
        this.#unwatch(path);
        this.#changed();
      });
      this.#watched.set(path, { watcher, ino });
      return true;
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR')) this.#isStale = true;
      else this.#turnBlind();
      return false;
    }
  }

  #unwatch(path: string): void {
    this.#watched.get(path)?.watcher.close();
    this.#watched.delete(path);
  }

  #turnBlind(): void {
    this.#isBlind = true;
    if (this.#hasTold) return;
    this.#hasTold = true;
    const seconds = (this.#options.pollMs ?? POLL_MS) / 1_000;
    this.#options.onNote?.(
      `Not every folder can be watched, so that changes are looked for every ${seconds} seconds.`,
    );
  }
}

function watchFolder(...[path, onEvent]: Parameters<WatchFolder>): FSWatcher {
  return watch(path, { persistent: false }, onEvent);
}

/** Whether an event can be about a chat, an asset or a folder of them. Systems may leave the name out. */
function matters(folder: string, event: string, name: string | null): boolean {
  const own = basename(folder);
  // The folder itself is gone.
  if (name === null || name === own) return true;
  if (own === ASSET_FOLDER) return isAssetFileName(name);
  if (name.endsWith(CHAT_ENDING) || name === ASSET_FOLDER) return true;
  return event === 'rename' && folderNameProblem(name) === undefined;
}
