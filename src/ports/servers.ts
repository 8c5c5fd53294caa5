/** MCP servers and what they offer. */
import type { Disposable } from './document.ts';
import type { ResultPart, ToolResult } from './results.ts';
import type { ToolCallOptions, ToolHost } from './tools.ts';

export type ServerState =
  /** Not started yet, or stopped; the next use starts it. */
  | { readonly kind: 'idle' }
  | { readonly kind: 'starting' }
  | { readonly kind: 'ready'; readonly about: ServerAbout }
  /** The start failed, or the server exited. It is not started again before `retryAtMs`. */
  | { readonly kind: 'failed'; readonly reason: string; readonly retryAtMs?: number };

export interface ServerAbout {
  readonly name: string;
  readonly title?: string;
  readonly version: string;
  /** The negotiated protocol version, such as 2025-11-25. */
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
  /** By its size, or because the server says so. */
  readonly isLarge?: boolean;
  readonly icon?: string;
  /** From 0 to 1, as the server claims. */
  readonly priority?: number;
  /** Its `_meta`, which describes apps. */
  readonly meta?: unknown;
}

/** `uriTemplate` follows RFC 6570. */
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
  /** Why the list is incomplete. */
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

export interface PromptResult {
  readonly messages: readonly {
    readonly role: 'user' | 'assistant';
    readonly parts: readonly ResultPart[];
  }[];
}

export interface ResourceContents {
  readonly uri: string;
  readonly mimeType?: string;
  readonly data: string | Uint8Array;
  /** Its `_meta`, as the server sent it. */
  readonly meta?: unknown;
}

/** Asks for values of a prompt argument or a template variable. */
export interface CompletionRequest {
  readonly server: string;
  readonly of:
    | { readonly kind: 'prompt'; readonly prompt: string }
    | { readonly kind: 'template'; readonly uriTemplate: string };
  readonly argument: string;
  readonly value: string;
  /** Arguments that already have a value. */
  readonly others?: Readonly<Record<string, string>>;
}

export type ServerChange = 'state' | 'tools' | 'resources' | 'prompts';

export type LogLevel = 'debug' | 'info' | 'notice' | 'warning' | 'error' | 'critical' | 'alert' | 'emergency';

/** All servers. Methods that name a server start it if needed. */
export interface ServerHost extends ToolHost {
  /** Starts no server. Servers that are not in the map are idle. */
  states(): Promise<ReadonlyMap<string, ServerState>>;
  onDidChange(listener: (server: string, what: ServerChange) => void): Disposable;
  /** Rejects with a message for the user. */
  start(server: string): Promise<void>;
  stop(server: string): Promise<void>;
  restart(server: string): Promise<void>;
  setLogLevel(server: string, level: LogLevel): Promise<void>;
  /** A failure of the server is in the result; it does not reject. */
  listResources(server: string, signal?: AbortSignal): Promise<ResourceList>;
  listPrompts(server: string, signal?: AbortSignal): Promise<PromptList>;
  /** Saves bytes as files. Rejects if the server did not respond. */
  readResource(resource: ResourceName, options: ToolCallOptions): Promise<ToolResult>;
  /** Returns the contents in memory. Rejects above `maxBytes`. */
  fetchResource(
    resource: ResourceName,
    options: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
  ): Promise<readonly ResourceContents[]>;
  /** The subscription survives restarts of the server. */
  subscribe(resource: ResourceName, onUpdate: () => void): Disposable;
  getPrompt(
    prompt: {
      readonly server: string;
      readonly prompt: string;
      readonly arguments: Readonly<Record<string, string>>;
    },
    options: Omit<ToolCallOptions, 'onProgress'>,
  ): Promise<PromptResult>;
  /** Empty if the server has no completions or fails. */
  complete(request: CompletionRequest, signal?: AbortSignal): Promise<readonly string[]>;
  /** Notifies the servers that the workspace folders have changed. */
  rootsChanged(): void;
}

/** Requests from servers to the user. */

export interface AskedBy {
  readonly server: string;
  /** The chats with pending calls on this server, latest first. */
  readonly chats: readonly string[];
}

/** Capabilities without a handler are not advertised to servers. */
export interface ServerRequests {
  elicit?(request: Elicitation, by: AskedBy, signal: AbortSignal): Promise<ElicitationAnswer>;
  /** Resolves to whether the user finished at the URL. */
  visited?(request: Elicitation, by: AskedBy, signal: AbortSignal): Promise<boolean>;
  /** Rejects with a message that is sent to the server. */
  sample?(request: SamplingRequest, by: AskedBy, signal: AbortSignal): Promise<SamplingAnswer>;
  roots?(): Promise<readonly Root[]>;
}

export interface Root {
  readonly uri: string;
  readonly name?: string;
}

export type Elicitation =
  /** `schema` is a JSON Schema of a flat object. */
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
  /** Model names that the server prefers. */
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
  /** Only text and calls. */
  readonly parts: readonly SamplingPart[];
  readonly stopReason: 'endTurn' | 'maxTokens' | 'toolUse' | 'stopSequence';
}
