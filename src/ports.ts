/**
 * The words that every room shares, and the ports through which the core meets the outside.
 * This file imports nothing and holds nothing but types.
 */

export interface Disposable {
  dispose(): void;
}

export interface Log {
  /** Left out where nobody would read it. */
  debug?(message: string): void;
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
  /**
   * Resolves when a crash or a power cut can no longer take back the edits so far; to false when they could not be
   * saved. A document without a file has nothing to save.
   */
  save(): Promise<boolean>;
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
  /** What its structured content looks like. */
  readonly outputSchema?: unknown;
  readonly readOnly?: boolean;
  /** It may delete or overwrite. */
  readonly destructive?: boolean;
  /** Its calls are tasks: they must be, or they may be. */
  readonly task?: 'required' | 'optional';
  /** The `ui://` resource that shows its results. */
  readonly app?: string;
  /** An app may call it, and a model must not see it. */
  readonly forAppsOnly?: true;
  /** It reads `asset:` and `file:` references itself, and no file is given to anybody in their place. */
  readonly readsReferences?: true;
  /** A model may call it, and an app must not. */
  readonly notForApps?: true;
  /** A picture as a data: URL. */
  readonly icon?: string;
}

/** What could be listed, and for each server that could not be asked, why. */
export interface ToolList {
  readonly tools: readonly ToolInfo[];
  readonly failures: readonly ServerFailure[];
  /** What servers say about how to use them, for the model. */
  readonly instructions?: readonly { readonly server: string; readonly text: string }[];
}

export interface ServerFailure {
  readonly server: string;
  readonly reason: string;
}

export interface ToolProgress {
  readonly message?: string;
  readonly done?: number;
  readonly total?: number;
  /** How much of a long answer has come. It comes alone, a few times a second. */
  readonly bytes?: number;
}

export interface ToolCallOptions {
  /** Where this result's binary blocks go. */
  readonly assets: ResultAssets;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** The chat that the call stands in, by its address, for what the server asks while it works. */
  readonly chat?: string | undefined;
}

export interface ToolHost {
  /** Rejects only when the signal says so: a server that cannot be asked is named among the failures. */
  listTools(server?: string, signal?: AbortSignal): Promise<ToolList>;
  /** Rejects when no result came at all; a result that reports an error is a result. */
  callTool(call: ToolCall, options: ToolCallOptions): Promise<ToolResult>;
}

// ---- Servers ---------------------------------------------------------------------------------

export type ServerState =
  /** Not started yet, or stopped; the next use starts it. */
  | { readonly kind: 'idle' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'ready'; readonly about: ServerAbout }
  /** It could not be started, or it died. `retryAtMs` is when a use may start it again. */
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAtMs?: number };

/** What a server says about itself. */
export interface ServerAbout {
  readonly name: string;
  readonly title?: string;
  readonly version: string;
  /** The revision that was agreed on, such as 2025-11-25. */
  readonly protocol: string;
  readonly instructions?: string;
  readonly offers: ServerOffers;
  readonly icon?: string;
}

export interface ServerOffers {
  readonly tools: boolean;
  readonly resources: boolean;
  readonly subscriptions: boolean;
  readonly prompts: boolean;
  readonly completions: boolean;
  readonly logging: boolean;
}

export interface ResourceName {
  readonly server: string;
  readonly uri: string;
}

export interface ResourceInfo extends ResourceName {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
  readonly size?: number;
  readonly icon?: string;
  /** How important the server thinks it is, from 0 to 1. */
  readonly priority?: number;
  /** What its `_meta` says about it as an app. */
  readonly meta?: unknown;
}

/** `uriTemplate` is one of RFC 6570. */
export interface TemplateInfo {
  readonly server: string;
  readonly uriTemplate: string;
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly mimeType?: string;
}

export interface ResourceList {
  readonly resources: readonly ResourceInfo[];
  readonly templates: readonly TemplateInfo[];
  /** Why the list is not whole. */
  readonly failure?: string;
}

export interface PromptInfo {
  readonly server: string;
  readonly prompt: string;
  readonly title?: string;
  readonly description?: string;
  readonly arguments: readonly PromptArgument[];
  readonly icon?: string;
}

export interface PromptArgument {
  readonly name: string;
  readonly title?: string;
  readonly description?: string;
  readonly required: boolean;
}

export interface PromptList {
  readonly prompts: readonly PromptInfo[];
  readonly failure?: string;
}

/** A prompt with its blanks filled in. */
export interface PromptResult {
  readonly messages: readonly {
    readonly role: 'user' | 'assistant';
    readonly parts: readonly ResultPart[];
  }[];
}

/** One item of a resource: text, or bytes. */
export interface ResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly data: string | Uint8Array;
  /** Its `_meta`, as the server sent it. */
  readonly meta?: unknown;
}

/** What a value is being typed for: an argument of a prompt, or a blank of a template. */
export interface CompletionRequest {
  readonly server: string;
  readonly of:
    | { readonly kind: 'prompt'; readonly prompt: string }
    | { readonly kind: 'template'; readonly uriTemplate: string };
  readonly argument: string;
  readonly value: string;
  /** What has been answered already. */
  readonly others?: Readonly<Record<string, string>>;
}

/** What about a server is not as it was. */
export type ServerChange = 'state' | 'tools' | 'resources' | 'prompts';

export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** All servers and what they offer. Every method that names a server starts it when it is needed. */
export interface ServerHost extends ToolHost {
  /** Of the servers that may be started, without starting any. Those that are not named are idle. */
  states(): Promise<ReadonlyMap<string, ServerState>>;
  onDidChange(listener: (server: string, what: ServerChange) => void): Disposable;
  /** These reject with a message fit for the user. */
  start(server: string): Promise<void>;
  stop(server: string): Promise<void>;
  restart(server: string): Promise<void>;
  setLogLevel(server: string, level: LogLevel): Promise<void>;
  /** Never rejects because of the server: what could not be had is the failure. */
  listResources(server: string, signal?: AbortSignal): Promise<ResourceList>;
  listPrompts(server: string, signal?: AbortSignal): Promise<PromptList>;
  /** As parts, with bytes as files. Rejects when nothing came. */
  readResource(resource: ResourceName, options: ToolCallOptions): Promise<ToolResult>;
  /** As it is, in memory. Rejects when it is larger than `maxBytes`. */
  fetchResource(
    resource: ResourceName,
    options: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
  ): Promise<readonly ResourceContents[]>;
  /** Until it is disposed; goes on after the server was started anew. */
  subscribe(resource: ResourceName, onUpdate: () => void): Disposable;
  getPrompt(
    prompt: {
      readonly server: string;
      readonly prompt: string;
      readonly arguments: Readonly<Record<string, string>>;
    },
    options: Omit<ToolCallOptions, 'onProgress'>,
  ): Promise<PromptResult>;
  /** None where the server has none to offer, or fails. */
  complete(request: CompletionRequest, signal?: AbortSignal): Promise<readonly string[]>;
  /** Tells the servers that the folders of the workspace are others now. */
  rootsChanged(): void;
}

// ---- What servers ask for --------------------------------------------------------------------

export interface AskedBy {
  readonly server: string;
  /** The chats whose calls are under way there, the latest first. */
  readonly chats: readonly string[];
}

/** What servers may ask of the user. What is left out is not offered to them. */
export interface ServerRequests {
  elicit?(request: Elicitation, by: AskedBy, signal: AbortSignal): Promise<ElicitationAnswer>;
  /** Resolves when the user says what became of a visit: to true when it is done. */
  visited?(request: Elicitation, by: AskedBy, signal: AbortSignal): Promise<boolean>;
  /** Rejects with a message that the server may read when there is no answer. */
  sample?(request: SamplingRequest, by: AskedBy, signal: AbortSignal): Promise<SamplingAnswer>;
  roots?(): Promise<readonly Root[]>;
}

export interface Root {
  readonly uri: string;
  readonly name?: string;
}

export type Elicitation =
  /** `schema` is a flat JSON schema of an object. */
  | { readonly kind: 'form'; readonly message: string; readonly schema: unknown }
  | { readonly kind: 'url'; readonly message: string; readonly url: string; readonly id?: string };

export type ElicitationAnswer =
  | { readonly action: 'accept'; readonly content?: Readonly<Record<string, unknown>> }
  | { readonly action: 'decline' }
  | { readonly action: 'cancel' };

export interface SamplingRequest {
  readonly system?: string;
  readonly messages: readonly SamplingMessage[];
  readonly maxTokens: number;
  readonly temperature?: number;
  readonly stopSequences?: readonly string[];
  readonly tools?: readonly SamplingTool[];
  readonly toolChoice?: 'auto' | 'required' | 'none';
  /** Names of models that the server would like. */
  readonly hints: readonly string[];
}

export interface SamplingTool {
  readonly name: string;
  readonly description: string;
  readonly inputSchema: unknown;
}

export interface SamplingMessage {
  readonly role: 'user' | 'assistant';
  readonly parts: readonly SamplingPart[];
}

export type SamplingPart =
  | { readonly kind: 'text'; readonly text: string }
  /** `data` is base64. */
  | { readonly kind: 'image' | 'audio'; readonly mimeType: string; readonly data: string }
  | {
      readonly kind: 'call';
      readonly id: string;
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
    }
  | {
      readonly kind: 'result';
      readonly id: string;
      readonly isError: boolean;
      readonly parts: readonly SamplingPart[];
    };

export interface SamplingAnswer {
  readonly model: string;
  /** Texts and calls. */
  readonly parts: readonly SamplingPart[];
  readonly stopReason: 'endTurn' | 'maxTokens' | 'toolUse' | 'stopSequence';
}

// ---- The audit log ---------------------------------------------------------------------------

/** What happened, without contents. */
export interface AuditEntry {
  readonly kind: 'call' | 'resource' | 'prompt' | 'sampling' | 'elicitation' | 'start';
  readonly server: string;
  /** The tool, the prompt, or the address of the resource. */
  readonly name?: string | undefined;
  readonly chat?: string | undefined;
  /** Who agreed: the user just now, the user's “always”, a setting, or the command line. */
  readonly consent?: ConsentSource | undefined;
  readonly outcome: 'ok' | 'error' | 'denied' | 'cancelled';
  readonly ms?: number | undefined;
  readonly argumentBytes?: number | undefined;
  readonly resultBytes?: number | undefined;
  readonly assets?: number | undefined;
}

export type ConsentSource = 'asked' | 'remembered' | 'setting' | 'commandLine';

export interface Audit {
  record(entry: AuditEntry): void;
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
  /** The model had begun to answer, so that the request was paid for. */
  readonly begun?: boolean | undefined;
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
  | { readonly kind: 'allow'; readonly by?: ConsentSource }
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
