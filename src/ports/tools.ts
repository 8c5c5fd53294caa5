/** Tools and their calls, the consent that a call needs, and the record of it. */
import type { ResultAssets, ToolResult } from './results.ts';

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
