import type { GalleryItem } from './item.ts';

export interface Changes {
  readonly put: readonly GalleryItem[];
  readonly gone: readonly string[];
}

/** What to say to somebody who knows the old list. */
export function changesBetween(
  old: ReadonlyMap<string, GalleryItem>,
  now: ReadonlyMap<string, GalleryItem>,
): Changes {
  const put = [...now.values()].filter((item) => !isSame(old.get(item.id), item));
  return { put, gone: [...old.keys()].filter((id) => !now.has(id)) };
}

function isSame(a: GalleryItem | undefined, b: GalleryItem): boolean {
  return a !== undefined && (a === b || JSON.stringify(a) === JSON.stringify(b));
}
