import type { ResolvedServer } from '../config/inputs.ts';
import type { Connection } from '../connection/connection.ts';
import { isTimeout, mayBeSse, needsLegacyProtocol, ProtocolMismatch } from '../connection/explainFailure.ts';
import { type KnownProtocol, type KnownProtocols, unlessExpired } from '../connection/knownProtocols.ts';

export interface OpenServerOptions {
  readonly server: Promise<ResolvedServer>;
  readonly knownProtocols: KnownProtocols;
  readonly fingerprint: string;
  readonly nowMs: number;
  readonly timeoutMs: number;
  /** Aborted with the reason when the server is no longer needed. */
  readonly signal: AbortSignal;
  readonly connect: (server: ResolvedServer, known: KnownProtocol | undefined) => Connection;
}

/**
 * Opens a server with its known protocol. Without one it tries the newest revision first, then the older handshake, and
 * over HTTP the older SSE transport.
 */
export async function openServer(options: OpenServerOptions): Promise<Connection> {
  const { knownProtocols, fingerprint, nowMs } = options;
  const server = await options.server;
  const known = unlessExpired(knownProtocols.read(fingerprint), nowMs);
  try {
    const connection = await open(options, { server: known?.sse ? asSse(server) : server, known });
    if (connection.era === 'modern' || connection.isSlowModern) knownProtocols.write(fingerprint, undefined);
    else if (known === undefined) knownProtocols.write(fingerprint, legacy(false, nowMs));
    return connection;
  } catch (error) {
    knownProtocols.write(fingerprint, undefined);
    if (options.signal.aborted) throw error;
    const cause = error instanceof Error ? error.cause : undefined;
    // The known protocol no longer works: negotiate again, once.
    if (known !== undefined && !isTimeout(cause)) return openServer(options);
    const fallback = known === undefined ? fallbackFor(server, cause, nowMs) : undefined;
    if (fallback === undefined) throw error;
    const connection = await open(options, fallback).catch((second: unknown) => {
      // The first error describes the configuration, which the user can correct.
      throw fallback.known?.sse ? error : second;
    });
    knownProtocols.write(fingerprint, fallback.known);
    return connection;
  }
}

interface Attempt {
  readonly server: ResolvedServer;
  readonly known: KnownProtocol | undefined;
  readonly isPatient?: boolean;
}

async function open(
  { connect, timeoutMs, signal }: OpenServerOptions,
  { server, known, isPatient = false }: Attempt,
): Promise<Connection> {
  signal.throwIfAborted();
  const connection = connect(server, known);
  try {
    await connection.open({ timeoutMs, isPatient });
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function fallbackFor(server: ResolvedServer, cause: unknown, nowMs: number): Attempt | undefined {
  if (needsLegacyProtocol(cause, server.config)) return { server, known: legacy(false, nowMs) };
  if (cause instanceof ProtocolMismatch) return { server, known: undefined, isPatient: true };
  const isSse = server.config.kind === 'http' && mayBeSse(cause);
  return isSse ? { server: asSse(server), known: legacy(true, nowMs) } : undefined;
}

function legacy(sse: boolean, atMs: number): KnownProtocol {
  return { era: 'legacy', sse, atMs };
}

function asSse({ config, secrets }: ResolvedServer): ResolvedServer {
  return { config: config.kind === 'http' ? { ...config, kind: 'sse' } : config, secrets };
}
