import type { ResolvedServer } from '../config/inputs.ts';
import {
  type Connection,
  hasAnswered,
  mayBeSse,
  WrongGreeting,
  wantsOldGreeting,
} from '../connection/connection.ts';
import { freshVerdict, type Verdict, type VerdictStore } from '../connection/knownProtocols.ts';

export interface Opening {
  readonly server: Promise<ResolvedServer>;
  readonly verdicts: VerdictStore;
  readonly fingerprint: string;
  readonly nowMs: number;
  readonly timeoutMs: number;
  /** False when nobody wants the server any more. */
  readonly isWanted: () => boolean;
  readonly connect: (server: ResolvedServer, verdict: Verdict | undefined) => Connection;
}

/**
 * Opens a server in the way that is known to work, or tries: the newer revision first, then the older ones, which
 * some servers want from the first word on, and which some addresses take only in the older way of HTTP.
 */
export async function openServer(opening: Opening): Promise<Connection> {
  const { verdicts, fingerprint, nowMs } = opening;
  const server = await opening.server;
  const known = freshVerdict(verdicts.read(fingerprint), nowMs);
  try {
    const connection = await attempt(opening, {
      server: known?.sse ? asSse(server) : server,
      verdict: known,
    });
    if (connection.era === 'modern' || connection.isSlowModern) verdicts.write(fingerprint, undefined);
    else if (known === undefined) verdicts.write(fingerprint, verdict(false, nowMs));
    return connection;
  } catch (error) {
    verdicts.write(fingerprint, undefined);
    if (!opening.isWanted()) throw error;
    const cause = error instanceof Error ? error.cause : undefined;
    // What was found out is no longer so: without it everything is tried again, once.
    if (known !== undefined && hasAnswered(cause)) return openServer(opening);
    const other = known === undefined ? otherWay(server, cause, nowMs) : undefined;
    if (other === undefined) throw error;
    const connection = await attempt(opening, other).catch((second: unknown) => {
      // What was configured is what the user can correct.
      throw other.verdict?.sse ? error : second;
    });
    verdicts.write(fingerprint, other.verdict);
    return connection;
  }
}

/** How a server is asked: in the way that is known, or else first in the newer one. */
interface Way {
  readonly server: ResolvedServer;
  readonly verdict: Verdict | undefined;
  readonly isPatient?: boolean;
}

async function attempt(
  { connect, timeoutMs, isWanted }: Opening,
  { server, verdict: known, isPatient = false }: Way,
): Promise<Connection> {
  if (!isWanted()) throw new Error('it was stopped');
  const connection = connect(server, known);
  try {
    await connection.open({ timeoutMs, isPatient });
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function otherWay(server: ResolvedServer, cause: unknown, nowMs: number): Way | undefined {
  if (wantsOldGreeting(cause, server.config)) return { server, verdict: verdict(false, nowMs) };
  if (cause instanceof WrongGreeting) return { server, verdict: undefined, isPatient: true };
  if (server.config.kind === 'http' && mayBeSse(cause)) {
    return { server: asSse(server), verdict: verdict(true, nowMs) };
  }
  return undefined;
}

function verdict(sse: boolean, atMs: number): Verdict {
  return { era: 'legacy', sse, atMs };
}

function asSse({ config, secrets }: ResolvedServer): ResolvedServer {
  return { config: config.kind === 'http' ? { ...config, kind: 'sse' } : config, secrets };
}
