/** Models, and what is sent to them. */
import type { Approval, ToolName } from './tools.ts';

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
