import { type FSWatcher, watch } from 'node:fs';
import { basename } from 'node:path';
import { statOf } from '../assets/confined.ts';
import { ASSET_FOLDER } from '../base/assetNames.ts';
import { mapConcurrently } from '../base/async.ts';
import { hasCode } from '../base/errors.ts';
import type { Disposable } from '../ports/document.ts';
import type { Catalog, Snapshot } from './catalog.ts';
import { CHAT_ENDING, type Entry, folderNameProblem, isAssetFileName } from './entry.ts';
import { SAVED_FILE } from './savedAssets.ts';

export interface CatalogChange {
  /** Entries were added, removed or renamed. */
  readonly list: boolean;
  /** The addresses of entries whose content changed. */
  readonly updated: readonly string[];
}

export interface WatchOptions {
  /** Changes within this time are reported together. */
  readonly batchMs?: number;
  /** The polling interval when folders cannot be watched. */
  readonly pollMs?: number;
  /** Called once when folders cannot be watched. */
  readonly onNote?: (note: string) => void;
  readonly watchFolder?: WatchFolder;
}

type WatchFolder = (path: string, onEvent: (event: string, name: string | null) => void) => FSWatcher;

export interface Joined extends Disposable {
  /** Resolves when every further change is reported. Never rejects. */
  readonly ready: Promise<void>;
}

/** Shares one watcher among all listeners. Does not keep the process alive. */
export class Watching implements Disposable {
  readonly #catalog: Catalog;
  readonly #options: WatchOptions;
  readonly #listeners = new Set<(change: CatalogChange) => void>();
  #watch: CatalogWatch | undefined;

  constructor(catalog: Catalog, options: WatchOptions = {}) {
    this.#catalog = catalog;
    this.#options = options;
  }

  join(onChange: (change: CatalogChange) => void): Joined {
    // A new function each time, so that a callback that joins twice is called twice.
    const listener = (change: CatalogChange) => onChange(change);
    this.#listeners.add(listener);
    this.#watch ??= new CatalogWatch(
      this.#catalog,
      (change) => {
        for (const each of [...this.#listeners]) each(change);
      },
      this.#options,
    );
    return {
      ready: this.#watch.started,
      dispose: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.size === 0) this.dispose();
      },
    };
  }

  dispose(): void {
    this.#listeners.clear();
    this.#watch?.dispose();
    this.#watch = undefined;
  }
}

function changeBetween(before: Snapshot, after: Snapshot): CatalogChange | undefined {
  const known = new Map(before.entries.map((entry) => [entry.uri, entry]));
  const list =
    before.entries.length !== after.entries.length ||
    after.entries.some((entry) => labelOf(known.get(entry.uri)) !== labelOf(entry));
  const updated = after.entries
    .map(({ uri }) => uri)
    .filter((uri) => known.has(uri) && before.versions.get(uri) !== after.versions.get(uri));
  return list || updated.length > 0 ? { list, updated } : undefined;
}

function labelOf(entry: Entry | undefined): string {
  if (!entry) return '';
  return JSON.stringify(entry.kind === 'chat' ? [entry.title] : [entry.name, entry.tool]);
}

const BATCH_MS = 100;
const POLL_MS = 2_000;
/** The largest share of the time that scans may take. */
const MAX_SHARE = 1 / 4;
/** Consecutive scans, each because the last one found new folders. */
const MAX_SCANS = 5;
const STATS_AT_ONCE = 64;

/** Reports changes in batches. */
class CatalogWatch implements Disposable {
  readonly started: Promise<void>;
  readonly #catalog: Catalog;
  readonly #onChange: (change: CatalogChange) => void;
  readonly #options: WatchOptions;
  /** The inode detects that another folder took its place. */
  readonly #watched = new Map<string, { readonly watcher: FSWatcher; readonly ino: number }>();
  #known: Snapshot | undefined;
  #timer: NodeJS.Timeout | undefined;
  #isScanning = false;
  #isStale = false;
  /** Some folder cannot be watched, so changes are polled. */
  #mustPoll = false;
  #hasNoted = false;
  #isDisposed = false;
  #scanMs = 0;

  constructor(catalog: Catalog, onChange: (change: CatalogChange) => void, options: WatchOptions) {
    this.#catalog = catalog;
    this.#onChange = onChange;
    this.#options = options;
    this.started = this.#scanAndReport();
  }

  dispose(): void {
    this.#isDisposed = true;
    clearTimeout(this.#timer);
    for (const path of [...this.#watched.keys()]) this.#unwatch(path);
  }

  /** The first of several changes starts the timer. */
  #changed(): void {
    if (this.#isStale) return;
    this.#isStale = true;
    if (!this.#isScanning) this.#scheduleScan(this.#options.batchMs ?? BATCH_MS);
  }

  #scheduleScan(ms: number): void {
    clearTimeout(this.#timer);
    if (this.#isDisposed) return;
    const pauseMs = Math.max(ms, this.#scanMs * (1 / MAX_SHARE - 1));
    this.#timer = setTimeout(() => void this.#scanAndReport(), pauseMs).unref();
  }

  async #scanAndReport(): Promise<void> {
    const before = this.#known;
    const began = performance.now();
    this.#isScanning = true;
    const after = await this.#scan().catch(() => undefined);
    this.#isScanning = false;
    this.#scanMs = performance.now() - began;
    if (this.#isDisposed) return;
    this.#known = after ?? before;
    if (this.#isStale) this.#scheduleScan(this.#options.batchMs ?? BATCH_MS);
    else if (this.#mustPoll || !after?.isComplete) this.#scheduleScan(this.#options.pollMs ?? POLL_MS);
    const change = before && after && changeBetween(before, after);
    if (change) this.#onChange(change);
  }

  /** Repeats while there are new folders: files may have been added before they were watched. */
  async #scan(): Promise<Snapshot> {
    for (let scans = 1; ; scans += 1) {
      this.#isStale = false;
      const snapshot = await this.#catalog.snapshot();
      const hasNew = await this.#watch(snapshot.folders);
      if (!hasNew) return snapshot;
      if (scans === MAX_SCANS) {
        this.#isStale = true;
        return snapshot;
      }
    }
  }

  /** Returns true when one of the folders was not watched before. */
  async #watch(folders: readonly string[]): Promise<boolean> {
    const stats = await mapConcurrently(STATS_AT_ONCE, folders, statOf);
    if (this.#isDisposed) return false;
    const inodes = new Map(folders.map((path, index) => [path, stats[index]?.ino]));
    for (const [path, { ino }] of [...this.#watched]) if (inodes.get(path) !== ino) this.#unwatch(path);
    this.#mustPoll = false;
    let hasNew = false;
    for (const [path, ino] of inodes) {
      if (ino === undefined) this.#isStale = true;
      else if (!this.#watched.has(path)) hasNew = this.#watchOne(path, ino) || hasNew;
    }
    return hasNew;
  }

  #watchOne(path: string, ino: number): boolean {
    try {
      const watcher = (this.#options.watchFolder ?? watchFolder)(path, (event, name) => {
        if (isRelevant(path, event, name)) this.#changed();
      });
      watcher.on('error', () => {
        this.#unwatch(path);
        this.#changed();
      });
      this.#watched.set(path, { watcher, ino });
      return true;
    } catch (error) {
      if (hasCode(error, 'ENOENT', 'ENOTDIR')) this.#isStale = true;
      else this.#startPolling();
      return false;
    }
  }

  #unwatch(path: string): void {
    this.#watched.get(path)?.watcher.close();
    this.#watched.delete(path);
  }

  #startPolling(): void {
    this.#mustPoll = true;
    if (this.#hasNoted) return;
    this.#hasNoted = true;
    const seconds = (this.#options.pollMs ?? POLL_MS) / 1_000;
    this.#options.onNote?.(`Some folders cannot be watched, so changes are polled every ${seconds} seconds.`);
  }
}

function watchFolder(...[path, onEvent]: Parameters<WatchFolder>): FSWatcher {
  return watch(path, { persistent: false }, onEvent);
}

/** Whether an event can concern a chat, an asset or a folder of them. Some systems omit the name. */
function isRelevant(folder: string, event: string, name: string | null): boolean {
  const own = basename(folder);
  // The folder itself was removed.
  if (name === null || name === own) return true;
  if (own === ASSET_FOLDER) return isAssetFileName(name) || name === SAVED_FILE;
  if (name.endsWith(CHAT_ENDING) || name === ASSET_FOLDER) return true;
  return event === 'rename' && folderNameProblem(name) === undefined;
}
