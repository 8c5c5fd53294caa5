/** The name under which chats call what Filechat itself offers, as if it were one more server. */
export const BUILT_IN_SERVER = 'filechat';

/** Where a chat and its assets are. */
export interface BuiltInPlaces {
  /** The chat's file; nothing when it is not saved. */
  readonly chat?: string | undefined;
  /** What the chat says now, which need not be saved. */
  readonly text: () => Promise<string> | string;
  /** The folder that holds its `cmdassets/`. */
  readonly assetsIn: string;
  /** What links to its assets begin with, where that is not `cmdassets`. */
  readonly linkPrefix?: string | undefined;
  /** The folders whose chats may be searched and whose assets may be listed. */
  readonly folders: readonly string[];
}
