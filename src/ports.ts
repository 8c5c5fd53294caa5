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

/** Text from a text block or, with `source`, from an embedded resource. Its lines end in `\n`. */
export interface TextPart {
  readonly kind: 'text';
  readonly text: string;
  readonly source?: ResourceSource;
}

/** Bytes that are a file now. `preview` is there when the file holds text too long to show whole. */
export interface AssetPart {
  readonly kind: 'asset';
  readonly asset: Asset;
  readonly preview?: string;
}

/** A resource that the tool points at without sending it. */
export interface LinkPart {
  readonly kind: 'link';
  readonly uri: string;
  readonly name: string;
  readonly mimeType?: string;
  readonly size?: number;
  readonly description?: string;
}

/** Structured content that says something the blocks do not: JSON, already formatted. */
export interface DataPart {
  readonly kind: 'data';
  readonly json: string;
}

/** A block that could not be used, and why. */
export interface ProblemPart {
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
  /** Resolves when the file is whole on disk. Rejects with a message fit for the document. */
  save(asset: NewAsset): Promise<{ readonly number: number; readonly path: string }>;
}

export interface NewAsset {
  readonly kind: AssetKind;
  /** Without a dot, from a closed table; never from a server. */
  readonly extension: string;
  readonly bytes: Uint8Array;
}

// ---- Consent ---------------------------------------------------------------------------------

export type ConsentAnswer =
  | { readonly kind: 'allow' }
  | { readonly kind: 'deny'; readonly reason?: string }
  /** Neither yes nor no: the call stays as it is, and nothing more runs. */
  | { readonly kind: 'cancel' };

export interface Consent {
  /** Asked before every call; an answer that the user wanted to be remembered counts as given. */
  mayCall(call: ToolCall, tool: ToolInfo): Promise<ConsentAnswer>;
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
