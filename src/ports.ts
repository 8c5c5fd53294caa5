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
  edit(compute: (text: string) => TextEdit | undefined, options?: EditOptions): Promise<boolean>;
  onDidChange(listener: (change: DocumentChange) => void): Disposable;
}

export interface EditOptions {
  /** Undone together with the edit before it, where the document can do that. */
  readonly joinUndo?: boolean;
}

export interface DocumentChange {
  /** The change took something back, or did it again. */
  readonly undo: boolean;
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

// ---- Models ----------------------------------------------------------------------------------

/** A model that can be asked. What it says comes as events, in order. */
export interface ChatModel {
  /** As a person knows it: a name from the settings, or `provider/model`. */
  readonly name: string;
  readonly provider: string;
  /** What it takes as a file, beside text; in a tool's result it takes only images. */
  accepts(mimeType: string): boolean;
  /** Rejects, or ends in a throw, with a `ModelFailure`. A stop by the signal closes the connection at once. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /** Exactly what would be sent for a request, as text to read, with keys and base64 left out. Sends nothing. */
  preview(request: ModelRequest): Promise<string>;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly reasoning?: Reasoning | undefined;
}

export type Reasoning = 'off' | 'low' | 'medium' | 'high';

/** `name` is fit for every provider; `tool` is the one that it stands for. */
export interface ModelTool {
  readonly name: string;
  readonly tool: ToolName;
  readonly description: string;
  readonly inputSchema: unknown;
}

export type ModelMessage =
  | { readonly role: 'user'; readonly parts: readonly ContentPart[] }
  | { readonly role: 'assistant'; readonly parts: readonly AssistantPart[] }
  | { readonly role: 'tool'; readonly results: readonly CallResult[] };

export type ContentPart = { readonly kind: 'text'; readonly text: string } | FilePart;

/** A file that is sent as what it is. It is read when the request is sent, not before. */
export interface FilePart {
  readonly kind: 'file';
  readonly name: string;
  readonly mimeType: string;
  readonly size: number;
  read(signal?: AbortSignal): Promise<Uint8Array>;
}

export type AssistantPart =
  | { readonly kind: 'text'; readonly text: string; readonly metadata?: ProviderMetadata | undefined }
  | { readonly kind: 'reasoning'; readonly text: string; readonly metadata?: ProviderMetadata | undefined }
  | {
      readonly kind: 'call';
      readonly id: string;
      /** The name that the model knows the tool by. */
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly metadata?: ProviderMetadata | undefined;
    };

/** One call's result. Its files are images. */
export interface CallResult {
  readonly id: string;
  readonly name: string;
  readonly isError: boolean;
  readonly parts: readonly ContentPart[];
}

/** What a provider wants back with a part, by the provider's name: signatures, mostly. JSON. */
export type ProviderMetadata = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export type ModelEvent =
  | { readonly kind: 'text'; readonly text: string }
  /** Goes with all the text, or all the reasoning, since the last event of another kind. */
  | { readonly kind: 'metadata'; readonly metadata: ProviderMetadata }
  | { readonly kind: 'reasoning'; readonly text: string }
  /** A call begins or grows; shown as progress, and kept if the stream is cut. */
  | { readonly kind: 'callInput'; readonly key: string; readonly name: string; readonly text: string }
  /** A call is whole. `key` is the one of its `callInput` events. */
  | {
      readonly kind: 'call';
      readonly key: string;
      readonly name: string;
      readonly argumentsText: string;
      readonly metadata?: ProviderMetadata | undefined;
    }
  | { readonly kind: 'finish'; readonly reason: FinishReason; readonly usage: Usage };

/** `length` is the limit of tokens; `refused` is a filter of the provider's. */
export type FinishReason = 'stop' | 'calls' | 'length' | 'refused' | 'other';

/** In tokens. `input` counts all of the request, the cached part too. */
export interface Usage {
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly cachedInput?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

/** Why a model did not answer, or not to the end. Thrown by `ChatModel.stream`. */
export interface ModelFailure extends Error {
  readonly kind: 'modelFailure';
  /** Worth another try: rate limits, overload, server errors, a connection that was refused or broke off. */
  readonly retryable: boolean;
  /** How long the server wants us to wait. */
  readonly retryAfterMs?: number | undefined;
  readonly status?: number | undefined;
}

/** Knows the chat's model, its tools and its rules, and makes a request of the chat's text. */
export interface Conversation {
  rules(text: string): Promise<ChatRules>;
  /** Rejects with a message fit for the user: no such model, no key, an attachment that is not there. */
  prepare(text: string, signal: AbortSignal): Promise<PreparedRequest>;
}

/** What a chat says about its own run. It can only be stricter than the user's settings. */
export interface ChatRules {
  readonly approve?: Approval | undefined;
  readonly maxSteps?: number | undefined;
  allows(tool: ToolName): boolean;
}

export interface PreparedRequest {
  readonly model: ChatModel;
  readonly request: ModelRequest;
  /** What the user should know: an attachment that is not sent, a tool list that could not be had. */
  readonly notes: readonly string[];
}

/** The files that turns link to. */
export interface AttachmentSource {
  /**
   * `target` is a link's target as it stands in the turn, decoded. Rejects with a message fit for the document:
   * for what is not there, and for what is outside and nobody agreed to.
   */
  find(target: string): Promise<AttachedFile>;
}

/** A file that a turn links to. Nothing of it has been read but its head. */
export interface AttachedFile {
  readonly name: string;
  readonly size: number;
  /** By its bytes, then by its name; `text/…` or `application/json` and the like only if it is UTF-8 text. */
  readonly mimeType: string;
  readonly isText: boolean;
  read(signal?: AbortSignal): Promise<Uint8Array>;
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

export type Approval = 'ask' | 'auto-readonly' | 'auto';

export type ConsentAnswer =
  | { readonly kind: 'allow' }
  | { readonly kind: 'deny'; readonly reason?: string }
  /** The user wants to change the arguments first: the call waits in the document. */
  | { readonly kind: 'edit' }
  /** Neither yes nor no: the call stays as it is, and nothing more runs. */
  | { readonly kind: 'cancel' };

export interface Consent {
  /** Asked before every call; an answer that the user wanted to be remembered counts as given. */
  mayCall(call: ToolCall, tool: ToolInfo, about?: AboutCall): Promise<ConsentAnswer>;
}

export interface AboutCall {
  /** Which files the call would give away, a line for each. */
  readonly notes?: readonly string[] | undefined;
  /** What the chat itself asks for; it counts where it is stricter than the user's setting. */
  readonly approve?: Approval | undefined;
}

// ---- Runs ------------------------------------------------------------------------------------

/** What `filechat.run` and `filechat.callTool` return. `assets` are the links that were written. */
export interface RunOutcome {
  readonly ok: boolean;
  readonly error?: string;
  /** The user called it off, and so knows already. */
  readonly cancelled?: boolean;
  /** The reply was cut, and `resume` would go on with it. */
  readonly resumable?: boolean;
  /** The id of the call that the user wants to change before it is made. */
  readonly edit?: string;
  /** The document did not take what came; whoever rescues it has it. */
  readonly lost?: boolean;
  readonly assets: readonly string[];
}
