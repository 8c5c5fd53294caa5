/**
 * The words that every room shares, and the ports through which the core meets the outside.
 * This file imports nothing and holds nothing but types.
 */

export interface Disposable {
  dispose(): void;
}

export interface Log {
  info(message: string): void;
  warn(message: string): void;
  error(message: string): void;
}

// ---- The document ----------------------------------------------------------------------------

/** Replaces the characters from `start` up to `end` (offsets in UTF-16 units) with `text`. */
export interface TextEdit {
  readonly start: number;
  readonly end: number;
  readonly text: string;
}

/**
 * A chat that is open somewhere: in an editor, or as a file on the command line.
 * Callers give a function of the current text, so no offset has to live across an `await`.
 */
export interface ChatDocument {
  text(): string;
  /** Resolves to false when there was nothing to change or the document refused the change. */
  edit(compute: (text: string) => TextEdit | undefined): Promise<boolean>;
  onDidChange(listener: () => void): Disposable;
}

// ---- Tools -----------------------------------------------------------------------------------

export interface ToolName {
  readonly server: string;
  readonly tool: string;
}

export interface ToolCall extends ToolName {
  readonly id: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A tool as its server describes it. Everything in it is the server's claim. */
export interface ToolInfo extends ToolName {
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: unknown;
  readonly readOnly?: boolean;
}

/** What could be listed, and for each server that could not be asked, why. */
export interface ToolList {
  readonly tools: readonly ToolInfo[];
  readonly failures: readonly { readonly server: string; readonly reason: string }[];
}

export interface ToolProgress {
  readonly message?: string;
  readonly done?: number;
  readonly total?: number;
}

export interface ToolCallOptions {
  /** Where this result's binary blocks go. */
  readonly assets: ResultAssets;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
}

export interface ToolHost {
  /** Rejects only when the signal says so: a server that cannot be asked is named among the failures. */
  listTools(server?: string, signal?: AbortSignal): Promise<ToolList>;
  /** Rejects when no result came at all; a result that reports an error is a result. */
  callTool(call: ToolCall, options: ToolCallOptions): Promise<ToolResult>;
}

// ---- Results ---------------------------------------------------------------------------------

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

// ---- Assets ----------------------------------------------------------------------------------

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

// ---- Files as arguments ----------------------------------------------------------------------

/** A file that an argument names: an asset of this chat, or a path from the chat's folder or from the root. */
export type FileReference =
  | { readonly kind: 'asset'; readonly name: string }
  | { readonly kind: 'file'; readonly path: string };

/** A file that may be given to a tool. Nothing of it has been read but its head. */
export interface FoundFile {
  readonly name: string;
  /** The real one, with every symbolic link followed. */
  readonly path: string;
  readonly size: number;
  readonly mimeType: string;
  /** The whole file as base64. Rejects with a message fit for the document, also when the file has changed. */
  read(signal?: AbortSignal): Promise<string>;
}

export interface FileSource {
  /** Rejects with a message fit for the document: for what is not there, and for what may not be given away. */
  find(reference: FileReference, wanted: 'bytes' | 'path'): Promise<FoundFile>;
}

/** Turns references to files into what a tool's schema asks for; the chat keeps the references. */
export interface FileArguments {
  /** Looks for the files before anybody is asked. Never rejects. */
  prepare(args: ToolCall['arguments'], inputSchema: unknown): Promise<PreparedArguments>;
}

export type PreparedArguments =
  | {
      readonly ok: true;
      /** One line for each file: where it goes, as what, which file it really is, and its size. */
      readonly notes: readonly string[];
      /** Reads the files: those that were found, or none. Rejects only when the signal says so. */
      resolve(signal?: AbortSignal): Promise<ResolvedArguments>;
    }
  | { readonly ok: false; readonly message: string };

export type ResolvedArguments =
  | { readonly ok: true; readonly arguments: ToolCall['arguments'] }
  | { readonly ok: false; readonly message: string };

// ---- Consent ---------------------------------------------------------------------------------

export type ConsentAnswer =
  | { readonly kind: 'allow' }
  | { readonly kind: 'deny'; readonly reason?: string }
  /** Neither yes nor no: the call stays as it is, and nothing more runs. */
  | { readonly kind: 'cancel' };

export interface Consent {
  /**
   * Asked before every call; an answer that the user wanted to be remembered counts as given. The notes say
   * which files the call would give away.
   */
  mayCall(call: ToolCall, tool: ToolInfo, notes?: readonly string[]): Promise<ConsentAnswer>;
}

// ---- Runs ------------------------------------------------------------------------------------

/** What `filechat.run` and `filechat.callTool` return. `assets` are the links that were written. */
export interface RunOutcome {
  readonly ok: boolean;
  readonly error?: string;
  /** The user called it off, and so knows already. */
  readonly cancelled?: boolean;
  readonly assets: readonly string[];
}
