/** Sent to the page as it is. */
export interface GalleryItem {
  /** Its address. The page may only send back ids that it was given. */
  readonly id: string;
  readonly name: string;
  /** The folder of the chat for display; empty when there is only one. */
  readonly folder: string;
  readonly kind: ItemKind;
  readonly bytes: number;
  /** The time of the last change, in milliseconds. */
  readonly time: number;
  /** The links to it, in order. */
  readonly uses: readonly ItemUse[];
  /** The URL to load it from; undefined for files that are not previewed. */
  readonly source?: string;
}

export interface ItemUse {
  readonly chat: string;
  /** The tool that returned it; undefined for attachments. */
  readonly tool?: string;
  /** The number of the turn, from 1. */
  readonly turn: number;
}

export const ITEM_KINDS = ['image', 'audio', 'video', 'pdf', 'text', 'other'] as const;
export type ItemKind = (typeof ITEM_KINDS)[number];

const KINDS: readonly (readonly [ItemKind, readonly string[]])[] = [
  ['image', ['png', 'jpg', 'jpeg', 'gif', 'webp', 'avif', 'bmp', 'ico', 'apng', 'svg']],
  ['audio', ['mp3', 'wav', 'ogg', 'oga', 'opus', 'flac', 'm4a', 'aac', 'weba', 'aif', 'aiff', 'amr', 'mid']],
  ['video', ['mp4', 'webm', 'mov', 'mkv', 'avi', 'ogv', 'mpg', '3gp', 'm4v']],
  ['pdf', ['pdf']],
  ['text', 'txt md csv tsv json jsonl xml yaml yml html htm css js ts py sql ics log'.split(' ')],
];

export function kindOf(name: string): ItemKind {
  const extension = extensionOf(name);
  return KINDS.find(([, extensions]) => extensions.includes(extension))?.[0] ?? 'other';
}

/** In lower case without the dot; empty when there is none. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : '';
}

/** Larger files are not previewed: decoding takes many times the size of a file in memory. */
const SHOWN_BYTES: Readonly<Record<ItemKind, number>> = {
  image: 12_000_000,
  audio: 50_000_000,
  video: 30_000_000,
  pdf: 8_000_000,
  text: 200_000,
  other: 0,
};

/** Active content. Tiles show an icon. */
const DOCUMENTS: ReadonlySet<string> = new Set(['svg', 'html', 'htm', 'xml']);

/** Whether the page may load it for a preview. */
export function isShown(name: string, bytes: number): boolean {
  return bytes > 0 && bytes <= SHOWN_BYTES[kindOf(name)] && !DOCUMENTS.has(extensionOf(name));
}

export function toolsOf({ uses }: Pick<GalleryItem, 'uses'>): readonly string[] {
  return [...new Set(uses.flatMap(({ tool }) => (tool === undefined ? [] : [tool])))];
}
