import { isObject } from '../../base/json.ts';
import type { GalleryItem } from './items.ts';
import type { Words } from './words.ts';

/** Messages of the editor to the page. */
export type ToPage =
  | {
      readonly kind: 'start';
      readonly words: Words;
      readonly scope: ScopeView;
      readonly canDelete: boolean;
      /** The asset to select. */
      readonly at?: string;
    }
  | {
      readonly kind: 'assets';
      /** Discards all earlier items. */
      readonly reset: boolean;
      readonly put: readonly GalleryItem[];
      readonly gone: readonly string[];
      /** False while more batches follow. */
      readonly whole: boolean;
    }
  | { readonly kind: 'goTo'; readonly id: string };

export interface ScopeView {
  /** The address of the chat; undefined for the workspace. The page keeps it in its state. */
  readonly chat?: string;
  /** The name of the chat that is shown or can be switched to. */
  readonly chatName?: string;
}

/** In the order of their buttons. */
export const ACTIONS = ['reveal', 'open', 'copyLink', 'copyReference', 'attach', 'delete', 'export'] as const;
export type Action = (typeof ACTIONS)[number];

/** Messages of the page to the editor. */
export type FromPage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'scope'; readonly scope: 'chat' | 'workspace' }
  | { readonly kind: 'act'; readonly action: Action; readonly ids: readonly string[] };

const MAX_IDS = 100_000;

/** Validates a message of the page. Returns undefined for invalid ones. */
export function readFromPage(message: unknown): FromPage | undefined {
  if (!isObject(message)) return undefined;
  const { kind, scope, action, ids } = message;
  if (kind === 'ready') return { kind };
  if (kind === 'scope') return scope === 'chat' || scope === 'workspace' ? { kind, scope } : undefined;
  const known = ACTIONS.find((each) => each === action);
  if (kind !== 'act' || !known || !Array.isArray(ids) || ids.length > MAX_IDS) return undefined;
  return ids.every((id) => typeof id === 'string') ? { kind, action: known, ids } : undefined;
}

export function changesBetween(
  old: ReadonlyMap<string, GalleryItem>,
  now: ReadonlyMap<string, GalleryItem>,
): { readonly put: readonly GalleryItem[]; readonly gone: readonly string[] } {
  const put = [...now.values()].filter((item) => !isSame(old.get(item.id), item));
  return { put, gone: [...old.keys()].filter((id) => !now.has(id)) };
}

function isSame(a: GalleryItem | undefined, b: GalleryItem): boolean {
  return a !== undefined && (a === b || JSON.stringify(a) === JSON.stringify(b));
}
