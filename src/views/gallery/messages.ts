import type { GalleryItem } from './item.ts';
import type { Words } from './words.ts';

/** What the editor tells the page. */
export type ToPage =
  | {
      readonly kind: 'start';
      readonly words: Words;
      readonly scope: ScopeView;
      readonly canDelete: boolean;
      /** The asset to begin at, if one was asked for. */
      readonly at?: string;
    }
  | {
      readonly kind: 'assets';
      /** All that was said before is void. */
      readonly reset: boolean;
      readonly put: readonly GalleryItem[];
      readonly gone: readonly string[];
      /** False while more is on its way. */
      readonly whole: boolean;
    }
  | { readonly kind: 'goTo'; readonly id: string };

export interface ScopeView {
  /** The address of the chat; nothing when all of the workspace is shown. Kept by the page for the next start. */
  readonly chat?: string;
  /** The name of the chat that can be switched to or is shown. */
  readonly chatName?: string;
}

const ACTIONS = ['open', 'reveal', 'copyLink', 'copyReference', 'attach', 'delete', 'export'] as const;
export type Action = (typeof ACTIONS)[number];

/** What the page asks of the editor. */
export type FromPage =
  | { readonly kind: 'ready' }
  | { readonly kind: 'scope'; readonly scope: 'chat' | 'workspace' }
  | { readonly kind: 'act'; readonly action: Action; readonly ids: readonly string[] };

const MAX_IDS = 100_000;

/** Whatever a page sends is judged first. Says nothing when it is none of ours. */
export function readFromPage(message: unknown): FromPage | undefined {
  if (typeof message !== 'object' || message === null) return undefined;
  const { kind, scope, action, ids } = message as Readonly<Record<string, unknown>>;
  if (kind === 'ready') return { kind };
  if (kind === 'scope') return scope === 'chat' || scope === 'workspace' ? { kind, scope } : undefined;
  const known = ACTIONS.find((each) => each === action);
  if (kind !== 'act' || !known || !Array.isArray(ids) || ids.length > MAX_IDS) return undefined;
  return ids.every((id) => typeof id === 'string') ? { kind, action: known, ids } : undefined;
}

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
