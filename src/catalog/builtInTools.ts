import type { ToolHost } from '../ports.ts';

/** The name under which chats call what Filechat itself offers, as if it were one more server. */
export const BUILT_IN_SERVER = 'filechat';

/** Where a chat and its assets are. */
export interface BuiltInPlaces {
  /** The chat's file; nothing when it is not saved. */
  readonly chat?: string | undefined;
  /** The folder that holds its `cmdassets/`. */
  readonly assetsIn: string;
  /** The folders whose chats may be searched and whose assets may be listed. */
  readonly folders: readonly string[];
}

export interface BuiltInOptions {
  /** By the chat's address as calls carry it; nothing where there are no files, as in a virtual workspace. */
  readonly placesOf: (chat: string | undefined) => BuiltInPlaces | undefined;
  /** Asked at each use. A server of the user's that has the same name is what it is. */
  readonly isOffered: () => boolean;
}

/** All tools of a host and, behind them, those with which a model opens again what it was only told of. */
export function withBuiltInTools(host: ToolHost, _options: BuiltInOptions): ToolHost {
  return host;
}
