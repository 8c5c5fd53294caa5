/** MCP servers and what they offer. */
import type { Disposable } from './document.ts';
import type { ResultPart, ToolResult } from './results.ts';
import type { ToolCallOptions, ToolHost } from './tools.ts';

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
