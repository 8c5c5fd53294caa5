/** What a tool returned, and the files that its bytes became. */

export interface ToolResult {
  readonly isError: boolean;
  /** One part for each block that the tool returned, in its order. */
  readonly parts: readonly ResultPart[];
}

export type ResultPart = TextPart | AssetPart | LinkPart | DataPart | ProblemPart;

/** Some blocks say that they are for the user's eyes only: the document keeps them, the model does not get them. */
export interface ForAudience {
  readonly audience?: 'user';
}

/** Text from a text block or, with `source`, from an embedded resource. Its lines end in `\n`. */
export interface TextPart extends ForAudience {
  readonly kind: 'text';
  readonly text: string;
  readonly source?: ResourceSource;
}

/** Bytes that are a file now. `preview` is there when the file holds text too long to show whole. */
export interface AssetPart extends ForAudience {
  readonly kind: 'asset';
  readonly asset: Asset;
  readonly preview?: string;
}

/** A resource that the tool points at without sending it. */
export interface LinkPart extends ForAudience {
  readonly kind: 'link';
  readonly uri: string;
  readonly name: string;
  readonly mimeType?: string;
  readonly size?: number;
  readonly description?: string;
}

/** Structured content that says something the blocks do not: JSON, already formatted. */
export interface DataPart extends ForAudience {
  readonly kind: 'data';
  readonly json: string;
}

/** A block that could not be used, and why. */
export interface ProblemPart extends ForAudience {
  readonly kind: 'problem';
  readonly message: string;
}

export interface ResourceSource {
  readonly uri: string;
  readonly mimeType?: string;
}

/** An `image` is one that a Markdown preview can show; SVG, which can run scripts, is a `file`. */
export type AssetKind = 'image' | 'audio' | 'file';

export interface Asset {
  readonly kind: AssetKind;
  /** Counts each kind from 1 within one result. */
  readonly number: number;
  /** The link's target: relative to the chat, with forward slashes. */
  readonly path: string;
  /** What the resource called itself, made safe to show. */
  readonly name?: string;
}

export interface AssetStore {
  /** Starts the assets of one tool result: their names share one time and one id. */
  beginResult(): ResultAssets;
}

export interface ResultAssets {
  /** Where long strings may be decoded to while they arrive: on the disk of the assets. Made when first asked for. */
  spillFolder(): Promise<string>;
  /** Resolves when the file is whole on disk. Rejects with a message fit for the document. */
  save(asset: NewAsset): Promise<{ readonly number: number; readonly path: string }>;
}

export interface NewAsset {
  readonly kind: AssetKind;
  /** Without a dot, from a closed table; never from a server. */
  readonly extension: string;
  readonly bytes: AssetBytes;
}

/** Few bytes are in memory; many are in a temporary file of ours, which whoever saves them may move away. */
export type AssetBytes = Uint8Array | SpilledBytes;

export interface SpilledBytes {
  readonly path: string;
  readonly size: number;
  /** The first bytes, enough to tell what they are. */
  readonly head: Uint8Array;
}

/** What became of a long base64 string on its way in. */
export type Spill =
  | (SpilledBytes & {
      readonly kind: 'bytes';
      /** From a data: URL. */
      readonly mimeType?: string;
      /** The string as it came, for one that turns out to be text after all. Only while the file is where it was. */
      readonly original?: () => Promise<string>;
    })
  /** It was longer than an asset may be; nothing was kept of it. */
  | { readonly kind: 'refused'; readonly size: number }
  /** The disk refused it, for a reason fit for the document; nothing was kept of it. */
  | { readonly kind: 'failed'; readonly size: number; readonly reason: string };

/** The long strings of one result, by the placeholders that stand for them in it. */
export interface Spills {
  /** What a string stands for; nothing when it is just a string. A server cannot make up a placeholder. */
  find(text: string): Spill | undefined;
  /** Removes the files that nobody has moved away. */
  dispose(): Promise<void>;
}
