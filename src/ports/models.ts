/** Models, requests, events and prices. */
import type { Failure } from './failures.ts';
import type { AssetKind } from './results.ts';
import type { Approval, ToolName } from './tools.ts';

export interface ChatModel {
  /** A name from the settings, or `provider/model`. */
  readonly name: string;
  readonly provider: string;
  /** Whether files of this type can be sent. */
  accepts(mimeType: string): boolean;
  /** False if the model is known to refuse tools. */
  takesTools?(): boolean;
  /** The longest description of a tool that the provider accepts, if it has a limit. */
  readonly maxToolDescriptionChars?: number | undefined;
  /** Whether the provider runs such a tool itself. */
  hasOwnTool?(tool: OwnTool): boolean;
  /** Undefined if it is unknown. */
  readonly price?: ListPrice | undefined;
  /** Fails with a `ModelFailure`. An abort closes the connection immediately. */
  stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent>;
  /** The request as readable text, without keys and base64. Sends nothing. */
  preview(request: ModelRequest): Promise<string>;
}

/** In US dollars per million tokens. */
export interface ModelPrice {
  readonly input: number;
  readonly output: number;
  readonly cachedInput?: number;
  readonly cacheWrite?: number;
}

/** A list price, which can be higher for long requests. */
export interface ListPrice extends ModelPrice {
  /** In ascending order. */
  readonly tiers?: readonly PriceTier[];
}

interface PriceTier extends ModelPrice {
  /** The price of requests with more input tokens. */
  readonly above: number;
}

export interface ModelRequest {
  readonly system: string;
  readonly messages: readonly ModelMessage[];
  readonly tools: readonly ModelTool[];
  /** Tools that the provider runs itself. */
  readonly ownTools?: readonly OwnTool[] | undefined;
  readonly maxTokens?: number | undefined;
  readonly temperature?: number | undefined;
  readonly reasoning?: Reasoning | undefined;
  /** Asks for the reply as a whole instead of a stream. */
  readonly isWhole?: boolean | undefined;
}

/** What some models refuse in a request. `documents` are the files that are not images: PDFs and audio. */
export type RequestFeature = 'images' | 'documents' | 'tools' | 'system' | 'temperature' | 'streaming';

/** `provider.web_search` in `tools` of a chat. */
export type OwnTool = 'web_search' | 'code_execution' | 'image_generation';

export type Reasoning = 'off' | 'low' | 'medium' | 'high';

/** `name` is valid for every provider. */
export interface ModelTool {
  readonly name: string;
  readonly tool: ToolName;
  readonly description: string;
  readonly inputSchema: unknown;
  /** The schema of the server, if `inputSchema` differs from it. */
  readonly ownSchema?: unknown;
}

export type ModelMessage =
  | { readonly role: 'user'; readonly parts: readonly ContentPart[] }
  | { readonly role: 'assistant'; readonly parts: readonly AssistantPart[] }
  | { readonly role: 'tool'; readonly results: readonly CallResult[] };

export type ContentPart = { readonly kind: 'text'; readonly text: string } | FilePart;

/** A file in the request, read when the request is sent. */
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
  | OwnFilePart
  | {
      readonly kind: 'call';
      readonly id: string;
      /** The name that the model uses for the tool. */
      readonly name: string;
      readonly arguments: Readonly<Record<string, unknown>>;
      readonly metadata?: ProviderMetadata | undefined;
    };

/** An image that the model made. */
export interface OwnFilePart extends FilePart {
  readonly metadata?: ProviderMetadata | undefined;
}

/** The result of one call. Its files are images, PDFs and audio. */
export interface CallResult {
  readonly id: string;
  readonly name: string;
  readonly isError: boolean;
  readonly parts: readonly ContentPart[];
}

/** JSON by provider that must be sent back with a part, such as signatures. */
export type ProviderMetadata = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

export type ModelEvent =
  | { readonly kind: 'text'; readonly text: string }
  /** Belongs to all text, or all reasoning, since the last event of another kind. */
  | { readonly kind: 'metadata'; readonly metadata: ProviderMetadata }
  | { readonly kind: 'reasoning'; readonly text: string }
  | MadeFileEvent
  | OwnCallEvent
  /** A call begins or grows. Kept if the stream is interrupted. */
  | { readonly kind: 'callInput'; readonly key: string; readonly name: string; readonly text: string }
  /** A call is complete. `key` is that of its `callInput` events. */
  | {
      readonly kind: 'call';
      readonly key: string;
      readonly name: string;
      readonly argumentsText: string;
      /** How the arguments were changed to match the schema of the tool. */
      readonly repairs?: readonly string[] | undefined;
      readonly metadata?: ProviderMetadata | undefined;
    }
  | { readonly kind: 'finish'; readonly reason: FinishReason; readonly usage: Usage };

/** The provider has run one of its own tools. The user sees it; the model does not get it back as its own words. */
export interface OwnCallEvent {
  readonly kind: 'ownCall';
  /** Letters, digits and `_`. */
  readonly name: string;
  readonly query: string;
  /** The whole query and its result. */
  readonly text: string;
}

/** The model has made a file. `isDraft`: it belongs to the reasoning. */
export interface MadeFileEvent {
  readonly kind: 'file';
  readonly file: MadeFile;
  readonly isDraft?: boolean | undefined;
  /** It is shown until the next version of the file arrives. */
  readonly isPartial?: boolean | undefined;
  readonly metadata?: ProviderMetadata | undefined;
}

export interface MadeFile {
  /** What it is if neither its bytes nor its type say so. */
  readonly block: AssetKind;
  /** Reads at most this many bytes. Rejects when the signal is aborted. */
  read(maxBytes: number, signal?: AbortSignal): Promise<MadeBytes>;
}

export type MadeBytes =
  | {
      readonly kind: 'bytes';
      readonly bytes: Uint8Array;
      readonly declared?: string;
      readonly name?: string;
    }
  | { readonly kind: 'refused'; readonly size: number; readonly name?: string }
  | {
      readonly kind: 'failed';
      readonly size: number;
      readonly reason: string;
      readonly name?: string;
    };

/** `length`: the token limit was reached. `refused`: the provider filtered the response. */
export type FinishReason = 'stop' | 'calls' | 'length' | 'refused' | 'other';

/** In tokens. `input` includes the cached part. */
export interface Usage {
  readonly input?: number | undefined;
  readonly output?: number | undefined;
  readonly cachedInput?: number | undefined;
  readonly cacheWrite?: number | undefined;
}

/** Thrown by `ChatModel.stream`. */
export interface ModelFailure extends Error {
  readonly kind: 'modelFailure';
  /** True for rate limits, overload, server errors and lost connections. */
  readonly retryable: boolean;
  /** The delay that the server asked for. */
  readonly retryAfterMs?: number | undefined;
  readonly status?: number | undefined;
  /** Decides what the user can do next. */
  readonly failure?: Failure | undefined;
  /** Of a request that was refused: its body, and that of the response. */
  readonly refused?: { readonly request: unknown; readonly response: string } | undefined;
}

/** Creates requests from the text of a chat. */
export interface Conversation {
  rules(text: string): Promise<ChatRules>;
  /** The tools that a request offers to the model. May start servers. */
  tools(text: string, signal: AbortSignal): Promise<readonly ModelTool[]>;
  /** Rejects with a message for the user, for example if the model, its key or an attachment is missing. */
  prepare(text: string, signal: AbortSignal): Promise<PreparedRequest>;
}

/** Rules in the front matter of a chat. They can only be stricter than the user's settings. */
export interface ChatRules {
  readonly approve?: Approval | undefined;
  readonly maxSteps?: number | undefined;
  allows(tool: ToolName): boolean;
  allowsServer(server: string): boolean;
}

export interface PreparedRequest {
  readonly model: ChatModel;
  readonly request: ModelRequest;
  /** Warnings for the user, such as an attachment that is not sent. */
  readonly notes: readonly string[];
  /** For the user: the attachments of the last turn, with how much of each is sent. */
  readonly attached?: readonly string[] | undefined;
  /** The servers whose tools are missing. Their reasons are in the notes too. */
  readonly failures?: readonly Failure[] | undefined;
}
