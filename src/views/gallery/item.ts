/** What the gallery knows of one asset. It travels to the page as it is. */
export interface GalleryItem {
  /** Its address. The page only says it again: nothing is opened that was not listed. */
  readonly id: string;
  readonly name: string;
  /** The folder of the chat, as a person knows it; empty where there is only one. */
  readonly folder: string;
  readonly kind: ItemKind;
  readonly bytes: number;
  /** When it was written, in milliseconds. */
  readonly time: number;
  /** Where chats speak of it, in their order. Empty: nobody links to it. */
  readonly uses: readonly ItemUse[];
  /** Where the page can load it from, if it may. */
  readonly source?: string;
}

export interface ItemUse {
  /** The name of the chat. */
  readonly chat: string;
  /** The tool whose result it is; a file that a person attached has none. */
  readonly tool?: string;
  /** Which turn of the chat speaks of it, counted from 1. */
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

/** In small letters, without the dot; empty when there is none. */
export function extensionOf(name: string): string {
  const dot = name.lastIndexOf('.');
  return dot > 0 ? name.slice(dot + 1).toLowerCase() : '';
}

/** Decoding costs memory many times the size of the file; above this a tile says what it is and shows nothing of it. */
const SHOWN_BYTES: Readonly<Record<ItemKind, number>> = {
  image: 12_000_000,
  audio: 50_000_000,
  video: 30_000_000,
  pdf: 8_000_000,
  text: 200_000,
  other: 0,
};

/** What would be a page, were it opened as one. Its tile shows an icon. */
const DOCUMENTS: ReadonlySet<string> = new Set(['svg', 'html', 'htm', 'xml']);

/** Whether the page may load it to show something of it. */
export function isShown(name: string, bytes: number): boolean {
  return bytes > 0 && bytes <= SHOWN_BYTES[kindOf(name)] && !DOCUMENTS.has(extensionOf(name));
}

/** Each tool that the asset comes from, once. */
export function toolsOf({ uses }: Pick<GalleryItem, 'uses'>): readonly string[] {
  return [...new Set(uses.flatMap(({ tool }) => (tool === undefined ? [] : [tool])))];
}
