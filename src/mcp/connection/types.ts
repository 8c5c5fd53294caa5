import type { Log } from '../../ports/document.ts';
import type { ServerAbout } from '../../ports/servers.ts';
import type { ToolProgress } from '../../ports/tools.ts';
import type { ServerConfig } from '../config/types.ts';
import type { RemoteAuthorization } from '../oauth/authorization.ts';
import type { SpillTable } from '../spill/spillFiles.ts';
import type { SdkClientOptions } from './clientSetup.ts';
import type { KnownProtocol } from './knownProtocols.ts';
import type { ProcessGuard } from './processGuard.ts';

export interface ConnectionOptions extends SdkClientOptions {
  /** With all inputs resolved. */
  readonly config: ServerConfig;
  /** Values to mask in messages and logs. */
  readonly secrets: readonly string[];
  readonly log: Log;
  readonly knownProtocol: KnownProtocol | undefined;
  readonly authorization: RemoteAuthorization | undefined;
  readonly guard: ProcessGuard;
  readonly maxDroppedBytes: number | undefined;
  /** What the user can raise after a timeout. */
  readonly timeoutSetting: string;
}

export interface CallContext {
  readonly signal?: AbortSignal | undefined;
  readonly onProgress?: ((progress: ToolProgress) => void) | undefined;
  /** Receives the long strings of the result, which otherwise stay in it. The caller disposes it. */
  readonly spills?: SpillTable | undefined;
}

export interface RequestOptions extends CallContext {
  /** The longest time without activity. Progress and each piece of a long response restart it. */
  readonly timeoutMs: number;
  /** Extra headers of this request, over HTTP. */
  readonly headers?: Readonly<Record<string, string>> | undefined;
}

export type ConnectionState =
  | { readonly kind: 'opening' }
  | { readonly kind: 'ready'; readonly about: ServerAbout }
  /** `isExpired` if the server ended the session; a new connection has a new one. */
  | { readonly kind: 'closed'; readonly reason: string; readonly isExpired: boolean };
