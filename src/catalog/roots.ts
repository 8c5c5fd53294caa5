import type { Stats } from 'node:fs';
import { readdir, realpath } from 'node:fs/promises';
import { basename, dirname, join, relative, resolve, sep } from 'node:path';
import { isInside } from '../assets/confined.ts';
import { chatIdProblem, folderNameProblem, MAX_DEPTH } from './address.ts';
import type { ChatId } from './entry.ts';
import { idBelow, type Root, statOf } from './walk.ts';

/** A place of the disk that an id names, if there is something: the way from a root, name by name. */
export interface Place {
  readonly root: Root;
  readonly names: readonly string[];
}

/** The folders that were given, and what comes first in the ids of what is in them. */
export class Roots {
  readonly #given: readonly Root[];

  constructor(folders: readonly string[]) {
    this.#given = labelled(folders);
  }

  /** In the order of the folders; empty where there is but one. */
  get labels(): readonly string[] {
    return this.#given.flatMap(({ label }) => (label === '' ? [] : [label]));
  }

  /** By their real paths, as they are now; each file is in one of them only. */
  async present(): Promise<{ readonly roots: readonly Root[]; readonly missing: readonly Root[] }> {
    const real = await Promise.all(
      this.#given.map(async (given) => ({ given, path: await realpath(given.path).catch(() => undefined) })),
    );
    return {
      roots: withoutTwice(
        real.flatMap(({ given, path }) => (path === undefined ? [] : [{ ...given, path }])),
      ),
      missing: real.flatMap(({ given, path }) => (path === undefined ? [given] : [])),
    };
  }

  async placeOf(id: ChatId): Promise<Place | undefined> {
    if (chatIdProblem(id) !== undefined) return undefined;
    const { roots } = await this.present();
    for (const root of roots) {
      const names = namesBelow(root, id);
      if (names) return { root, names };
    }
    return undefined;
  }

  async idOf(path: string): Promise<ChatId | undefined> {
    const { roots } = await this.present();
    const folder = await realpath(dirname(resolve(path))).catch(() => undefined);
    if (folder === undefined) return undefined;
    const real = join(folder, basename(path));
    return roots
      .filter((root) => isInside(root.path, real))
      .map((root) => ({ root, id: idBelow(root.label, relative(root.path, real).split(sep).join('/')) }))
      .find(({ root, id }) => chatIdProblem(id) === undefined && namesBelow(root, id))?.id;
  }
}

/** What really is at a place: reached through no link, and by the names that the disk has for it. */
export async function statPlace({ root, names }: Place): Promise<Stats | undefined> {
  const path = pathOf({ root, names });
  const stats = await statOf(path);
  if (!stats || (await realpath(path)) !== path) return undefined;
  for (let at = 0; at < names.length; at += 1)
    if (!(await isNamedSo(join(root.path, ...names.slice(0, at + 1))))) return undefined;
  return stats;
}

export function pathOf({ root, names }: Place): string {
  return join(root.path, ...names);
}

/** The names on the way from a root to what an id names. */
function namesBelow({ label }: Root, id: ChatId): readonly string[] | undefined {
  const names = id.split('/');
  if (label !== '' && names.shift() !== label) return undefined;
  return names.length > 0 && names.length <= MAX_DEPTH + 1 ? names : undefined;
}

/**
 * Some disks find a file in any case of its name, and not every system says then which one it has. Where the
 * name in the other case leads to the same file, the folder is asked for its names.
 */
export async function isNamedSo(path: string, disk: Disk = { statOf, readdir }): Promise<boolean> {
  const folder = dirname(path);
  const name = basename(path);
  const [own, other] = await Promise.all([disk.statOf(path), disk.statOf(join(folder, swapCase(name)))]);
  if (!own || own.ino !== other?.ino) return true;
  return (await disk.readdir(folder)).includes(name);
}

interface Disk {
  readonly statOf: (path: string) => Promise<Pick<Stats, 'ino'> | undefined>;
  readonly readdir: (path: string) => Promise<readonly string[]>;
}

function swapCase(text: string): string {
  const upper = text.toUpperCase();
  return upper === text ? text.toLowerCase() : upper;
}

function labelled(folders: readonly string[]): readonly Root[] {
  const given = withoutTwice(folders.map((folder) => ({ path: resolve(folder), label: '' })));
  if (given.length < 2) return given;
  const taken = new Set<string>();
  return given.map(({ path }) => ({ path, label: freeLabel(labelFor(path), taken) }));
}

/** What is in a folder within another is listed with that one. */
function withoutTwice(roots: readonly Root[]): readonly Root[] {
  return roots.filter(
    ({ path }, index) =>
      !roots.some((other, at) => (other.path === path ? at < index : isReached(path, other.path))),
  );
}

/** Whether the inner folder is entered when the outer one is walked through. */
function isReached(inner: string, outer: string): boolean {
  if (!isInside(outer, inner)) return false;
  const names = relative(outer, inner).split(sep);
  return names.length <= MAX_DEPTH && names.every((name) => folderNameProblem(name) === undefined);
}

/** The folder's own name, as far as an address can hold it. */
function labelFor(path: string): string {
  const name = basename(path)
    .replace(/[\p{Cc}\p{Cs}\\:%]/gu, '-')
    .replace(/^[.~]+|[. ]+$/g, '');
  return folderNameProblem(name) === undefined ? name : 'folder';
}

function freeLabel(label: string, taken: Set<string>): string {
  let free = label;
  for (let number = 2; taken.has(free.toLowerCase()); number += 1) free = `${label}-${number}`;
  taken.add(free.toLowerCase());
  return free;
}
