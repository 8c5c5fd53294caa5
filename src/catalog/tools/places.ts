export const BUILT_IN_SERVER = 'filechat';

/** The paths of a chat and its assets. */
export interface BuiltInPlaces {
  readonly chat?: string | undefined;
  /** The current text, which may be unsaved. */
  readonly text: () => Promise<string> | string;
  /** The folder that holds its `cmdassets/`. */
  readonly assetsIn: string;
  /** The beginning of links to its assets; `cmdassets` by default. */
  readonly linkPrefix?: string | undefined;
  /** The folders whose chats may be searched and whose assets may be listed. */
  readonly folders: readonly string[];
}
