import type { Implementation } from '@modelcontextprotocol/client';
import type { Log } from '../../ports/document.ts';
import type { ServerRequests } from '../../ports/servers.ts';
import type { AppSink } from '../apps/result.ts';
import type { ResolvedServer } from '../config/inputs.ts';
import type { ServerConfig } from '../config/types.ts';
import type { KnownProtocols } from '../connection/knownProtocols.ts';
import type { Authorize } from '../oauth/authorizations.ts';

export interface PoolOptions {
  /** Called at every use, so that changed settings apply at once. */
  readonly servers: () => Promise<ReadonlyMap<string, ServerConfig>>;
  readonly log: Log;
  /** The log of one server. By default `log`, with the name of the server. */
  readonly logFor?: ((server: string) => Log) | undefined;
  /** The longest time without activity, at start and during requests. */
  readonly timeoutMs: () => number;
  readonly clientInfo: Implementation;
  readonly requests?: ServerRequests | undefined;
  /** Where the apps of tools are shown. Called for each tool call, so that a changed setting applies at once. */
  readonly apps?: (() => AppSink | undefined) | undefined;
  readonly knownProtocols?: KnownProtocols | undefined;
  readonly authorize?: Authorize | undefined;
  /** Resolves inputs, which may ask the user. */
  readonly resolve?: ((server: string, config: ServerConfig) => Promise<ResolvedServer>) | undefined;
  /** For waiting times: a clock that is never set. */
  readonly now?: (() => number) | undefined;
  /** For what is remembered across restarts. */
  readonly date?: (() => number) | undefined;
  /** The server is closed after this much of one message was dropped. */
  readonly maxDroppedBytes?: number | undefined;
  /** What messages tell the user to do. By default as in the editor. */
  readonly advice?: Advice | undefined;
}

export interface Advice {
  /** What can be raised after a timeout. */
  readonly timeoutSetting: string;
  /** How a server is started that could not be started before. */
  readonly restart: string;
}

export const EDITOR_ADVICE: Advice = {
  timeoutSetting: 'filechat.timeoutSeconds',
  restart: 'run “Filechat: Restart Server”',
};
