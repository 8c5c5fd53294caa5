/** What servers may ask of the user. */

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
