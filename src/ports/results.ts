/** Tool results and their assets. */

export interface ToolResult {
  readonly isError: boolean;
  /** One part per block, in order. */
  readonly parts: readonly ResultPart[];
  /** Why nothing of the result can be used, if the parts alone do not show it because some of them are in a file. */
  readonly failure?: string;
}

export type ResultPart = TextPart | AssetPart | LinkPart | DataPart | ProblemPart;

/** Blocks for the user only are kept in the chat and not sent to the model. */
export interface ForAudience {
  readonly audience?: 'user';
}

/** Text from a text block or, with `source`, from an embedded resource. Its lines end in `\n`. */
export interface TextPart extends ForAudience {
  readonly kind: 'text';
  readonly text: string;
  readonly source?: ResourceSource;
}

/** Bytes that were saved as a file. `preview` is the excerpt of a text that is too long to show. */
export interface AssetPart extends ForAudience {
  readonly kind: 'asset';
  readonly asset: Asset;
  readonly preview?: string;
}

/** A link to a resource that the tool did not send. */
export interface LinkPart extends ForAudience {
  readonly kind: 'link';
  readonly uri: string;
  readonly name: string;
  readonly mimeType?: string;
  readonly size?: number;
  readonly description?: string;
}

/** Formatted JSON of structured content that the blocks do not contain. */
export interface DataPart extends ForAudience {
  readonly kind: 'data';
  readonly json: string;
}

/** The reason why a block could not be used. */
export interface ProblemPart extends ForAudience {
  readonly kind: 'problem';
  readonly message: string;
  /** The excerpt of a text that could not be saved. */
  readonly preview?: string;
}

export interface ResourceSource {
  readonly uri: string;
  readonly mimeType?: string;
}

/** An `image` can be shown in a Markdown preview. SVG is one only if it is declared so: opened on its own, it can run scripts. */
export type AssetKind = 'image' | 'audio' | 'file';

/** A tool returned the file, or a model made it. */
export type AssetMaker = 'tool' | 'model';

export interface Asset {
  readonly kind: AssetKind;
  /** A tool, unless it says otherwise. */
  readonly maker?: AssetMaker;
  /** Counts each kind from 1 within one result. */
  readonly number: number;
  /** The link's target: relative to the chat, with forward slashes. */
  readonly path: string;
  /** The name of the resource or the file, sanitized. */
  readonly name?: string;
}

export interface AssetStore {
  /** The assets of one result share a time and an id in their names. */
  beginResult(options?: BeginResult): ResultAssets;
}

export interface BeginResult {
  readonly maker?: AssetMaker | undefined;
  /** How many assets of each kind the result has already, if it goes on. */
  readonly counts?: ReadonlyMap<AssetKind, number> | undefined;
  /** False if the chat gets no line for a file that cannot be saved, so that Retry could not find its copy. */
  readonly keepsCopies?: boolean | undefined;
}

export interface RecoverableAssets {
  /**
   * Saves a file that an earlier result could not save, from its copy in the recovery folder. Removes the copy after
   * `link`. Rejects with a message for the user.
   */
  restore(name: string, link: (path: string) => Promise<void>): Promise<void>;
  /** The copies of all chats. */
  copies(): Promise<{ readonly folder: string; readonly names: readonly string[] }>;
}

export interface ResultAssets {
  /**
   * A folder on the same disk for long strings that are decoded while they arrive. Created on first use. After the
   * failure to write to it, the recovery folder; rejects with the failure if there is none.
   */
  spillFolder(failure?: unknown): Promise<string>;
  /** Resolves when the file is safe on disk, except in a batch. Rejects with a message for the chat. */
  save(asset: NewAsset): Promise<{ readonly number: number; readonly path: string }>;
  /** Resolves when the files of a batch are safe on disk; links to them follow. Stores without batches have none. */
  settle?(): Promise<void>;
  /** Removes a partial file that this result has saved. */
  removePartial?(path: string): Promise<void>;
}

export interface NewAsset {
  readonly kind: AssetKind;
  readonly maker?: AssetMaker | undefined;
  /** Without a dot, from a closed table, never from a server. */
  readonly extension: string;
  readonly bytes: AssetBytes;
  /** The name in its link, which is never part of its path. */
  readonly label?: string | undefined;
  /** How many of its kind the result has, if that is known. Names are padded to its width. */
  readonly last?: number | undefined;
  /** One of many, which are made safe together: see `settle`. */
  readonly inBatch?: boolean | undefined;
  /** Gets a file of its own, which nothing else uses, so that it can be removed. */
  readonly isPartial?: boolean | undefined;
}

/** Many bytes are in a temporary file, which the store may move. */
export type AssetBytes = Uint8Array | SpilledBytes;

export interface SpilledBytes {
  readonly path: string;
  readonly size: number;
  /** Enough bytes to detect the type. */
  readonly head: Uint8Array;
}

/** A long string that went to a file while it arrived: base64 decoded, other text as UTF-8. */
export type Spill =
  | (SpilledBytes & {
      readonly kind: 'bytes';
      /** From a data: URL. */
      readonly mimeType?: string;
      /** The string as it arrived, if it turns out to be text. Works until the file is moved. */
      readonly pieces?: () => AsyncIterable<string>;
      /** Of a string that is text for certain. */
      readonly textHash?: string;
    })
  /** Larger than the limit for assets; discarded. */
  | { readonly kind: 'refused'; readonly size: number }
  /** Could not be written; discarded. `reason` is for the chat. */
  | {
      readonly kind: 'failed';
      readonly size: number;
      readonly reason: string;
      /** The beginning of a text. */
      readonly preview?: string;
    };

/** The long strings of one result, by placeholder. */
export interface Spills {
  /** Undefined if the text is not a placeholder. Servers cannot forge placeholders. */
  find(text: string): Spill | undefined;
  /** Writes a text to a file of its own. Rejects if that fails. */
  write(text: AsyncIterable<string>): Promise<SpilledBytes>;
  /** Removes the files that were not moved. */
  dispose(): Promise<void>;
}
