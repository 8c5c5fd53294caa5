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
