/** Tools, calls, consent and the audit log. */
import type { ResultAssets, ToolResult } from './results.ts';

export interface ToolName {
  readonly server: string;
  readonly tool: string;
}

export interface ToolCall extends ToolName {
  readonly id: string;
  readonly arguments: Readonly<Record<string, unknown>>;
}

/** A tool as its server describes it; nothing in it is trusted. */
export interface ToolInfo extends ToolName {
  readonly title?: string;
  readonly description?: string;
  readonly inputSchema: unknown;
  readonly outputSchema?: unknown;
  readonly readOnly?: boolean;
  /** May delete or overwrite data. */
  readonly destructive?: boolean;
  /** Whether calls must or may be tasks. */
  readonly task?: 'required' | 'optional';
  /** The `ui://` resource that shows its results. */
  readonly app?: string;
  /** Hidden from models. */
  readonly forAppsOnly?: true;
  /** The tool resolves `asset:` and `file:` references itself. */
  readonly readsReferences?: true;
  /** Apps must not call it. */
  readonly notForApps?: true;
  /** The argument that names another server, which the chat and the user must allow too. */
  readonly serverArgument?: string;
  /** Offered to models only if a server of the chat has resources. */
  readonly needsResources?: true;
  /** An image as a data: URL. */
  readonly icon?: string;
}

export interface ToolList {
  readonly tools: readonly ToolInfo[];
  readonly failures: readonly ListFailure[];
  /** Usage instructions of servers, for the model. */
  readonly instructions?: readonly { readonly server: string; readonly text: string }[];
  /** The servers that offer resources. */
  readonly resourceServers?: readonly string[];
}

export interface ListFailure {
  readonly server: string;
  readonly reason: string;
  /** There is no such server in the configuration. */
  readonly isUnknown?: boolean;
}

export interface ToolProgress {
  readonly message?: string;
  readonly done?: number;
  readonly total?: number;
  /** Received bytes of a long response. Reported without the other fields, a few times a second. */
  readonly bytes?: number;
}

export interface ToolCallOptions {
  readonly assets: ResultAssets;
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** The URI or path of the chat, for requests that the server makes during the call. */
  readonly chat?: string | undefined;
  /** Whether the chat may use a server, for tools that act on other servers. */
  readonly mayUse?: ((server: string) => boolean) | undefined;
}

export interface ToolHost {
  /** Rejects only on abort; servers that fail are in `failures`. */
  listTools(server?: string, signal?: AbortSignal): Promise<ToolList>;
  /** Rejects if there is no result. A result with an error is a result. */
  callTool(call: ToolCall, options: ToolCallOptions): Promise<ToolResult>;
}

/** A file that was given to a tool or to a client. */
export interface AuditedFile {
  readonly name: string;
  readonly bytes: number;
}

/** An event without its contents. */
export interface AuditEntry {
  readonly kind: 'call' | 'resource' | 'prompt' | 'sampling' | 'elicitation' | 'start';
  readonly server: string;
  /** The tool, the prompt, or the URI of the resource. */
  readonly name?: string | undefined;
  readonly chat?: string | undefined;
  /** Allowed by a dialog, a remembered answer, a setting, or the command line. */
  readonly consent?: ConsentSource | undefined;
  readonly outcome: 'ok' | 'error' | 'denied' | 'cancelled';
  readonly ms?: number | undefined;
  readonly argumentBytes?: number | undefined;
  readonly resultBytes?: number | undefined;
  readonly assets?: number | undefined;
  /** The files that were transferred besides the arguments or the result. */
  readonly files?: readonly AuditedFile[] | undefined;
  /** The resource that a tool was asked to read. A template is named without its values. */
  readonly resource?: { readonly server: string; readonly uri: string } | undefined;
  /** The client of the assets server, with its version. */
  readonly client?: string | undefined;
}

export type ConsentSource = 'asked' | 'remembered' | 'setting' | 'commandLine';

export interface Audit {
  record(entry: AuditEntry): void;
}

export type Approval = 'ask' | 'auto-readonly' | 'auto';

export type ConsentAnswer =
  | {
      readonly kind: 'allow';
      readonly by?: ConsentSource;
      /** The permission is for these arguments, to which the user changed the call while the question was open. */
      readonly edited?: string;
    }
  | {
      readonly kind: 'deny';
      readonly reason?: string;
      /** The model does not get the results before the user has written why. */
      readonly endsRun?: true;
    }
  /** No decision: the call stays pending and the run stops. */
  | { readonly kind: 'cancel' }
  /** The user changed or closed the chat instead of answering. The run stops and leaves the chat as it is. */
  | { readonly kind: 'withdraw' };

export interface Consent {
  /** Questions about several calls can be open at the same time. */
  readonly asksTogether?: boolean;
  /** Called before every tool call. Remembered answers are applied. */
  mayCall(call: ToolCall, tool: ToolInfo, about?: AboutCall): Promise<ConsentAnswer>;
}

/** A file that a call would give away. */
export interface GivenFile {
  /** The real path, with symbolic links resolved. */
  readonly path: string;
  readonly bytes: number;
  /** False if the tool gets only the path. */
  readonly isContent: boolean;
}

export interface AboutCall {
  /** The address of the chat. */
  readonly chat?: string | undefined;
  /** The arguments as they are written in the chat; undefined if the call is not in a chat. */
  readonly written?: string | undefined;
  /** Aborts when the run is stopped, which withdraws the question. */
  readonly signal?: AbortSignal | undefined;
  readonly files?: readonly GivenFile[] | undefined;
  /** One line for each file that the call would send. */
  readonly notes?: readonly string[] | undefined;
  /** The rule of the chat, applied if it is stricter than the setting. */
  readonly approve?: Approval | undefined;
}
