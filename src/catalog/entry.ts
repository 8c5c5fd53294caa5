import type { AssetKind } from '../ports.ts';

/** What the folders of somebody's chats hold, as those who ask for it see it: by address, never by path. */

/**
 * Where something is: `notes/sales.chat.md`, or `notes/cmdassets` for files that no chat speaks of. Where several
 * folders are served, the label of one of them comes first.
 */
export type ChatId = string;

export type Address =
  | { readonly kind: 'chat'; readonly chat: ChatId }
  | { readonly kind: 'asset'; readonly chat: ChatId; readonly asset: string };

interface Listed {
  readonly uri: string;
  readonly chat: ChatId;
  readonly size: number;
  readonly changed: Date;
  readonly mimeType: string;
}

export interface ChatEntry extends Listed {
  readonly kind: 'chat';
  /** Its own title, its first words, or its name. */
  readonly title: string;
}

export interface AssetEntry extends Listed {
  readonly kind: 'asset';
  /** The name of its file in `cmdassets/`. */
  readonly asset: string;
  readonly assetKind: AssetKind;
  /** What the chat calls it: `quarterly.pdf` of `[Tool generated file 1: quarterly.pdf](…)`. */
  readonly name?: string;
  /** The tool that returned it, as `server.tool`. */
  readonly tool?: string;
}

export type Entry = ChatEntry | AssetEntry;

/** What may be read, and where it really is. The path is never told to who asks. */
export interface FoundEntry {
  readonly entry: Entry;
  readonly path: string;
}

/** Something that cannot be had, in words for who has asked. Says nothing of paths, nor of what is elsewhere. */
export class CatalogRefusal extends Error {}
