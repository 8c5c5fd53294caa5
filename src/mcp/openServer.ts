import type { ServerConfig } from './config.ts';
import { type Connection, mayBeSse, wantsOldGreeting } from './connection.ts';
import { freshVerdict, type Verdict, type VerdictStore } from './verdicts.ts';

export interface Opening {
  readonly config: Promise<ServerConfig>;
  readonly verdicts: VerdictStore;
  readonly fingerprint: string;
  readonly nowMs: number;
  readonly timeoutMs: number;
  /** False when nobody wants the server any more. */
  readonly isWanted: () => boolean;
  readonly connect: (config: ServerConfig, verdict: Verdict | undefined) => Connection;
}

/**
 * Opens a server in the way that is known to work, or tries: the newer revision first, then the older ones, which
 * some servers want from the first word on, and which some addresses take only in the older way of HTTP.
 */
export async function openServer(opening: Opening): Promise<Connection> {
  const { verdicts, fingerprint, nowMs } = opening;
  const config = await opening.config;
  const known = freshVerdict(verdicts.read(fingerprint), nowMs);
  try {
    const connection = await attempt(opening, known?.sse ? asSse(config) : config, known);
    if (connection.era === 'modern') verdicts.write(fingerprint, undefined);
    else if (known === undefined) verdicts.write(fingerprint, verdict(false, nowMs));
    return connection;
  } catch (error) {
    verdicts.write(fingerprint, undefined);
    const other = known === undefined ? otherWay(config, error, nowMs) : undefined;
    if (other === undefined || !opening.isWanted()) throw error;
    const connection = await attempt(opening, other.config, other.verdict).catch((second: unknown) => {
      // What was configured is what the user can correct.
      throw other.verdict.sse ? error : second;
    });
    verdicts.write(fingerprint, other.verdict);
    return connection;
  }
}

async function attempt(
  { connect, timeoutMs, isWanted }: Opening,
  config: ServerConfig,
  known: Verdict | undefined,
): Promise<Connection> {
  if (!isWanted()) throw new Error('it was stopped');
  const connection = connect(config, known);
  try {
    await connection.open({ timeoutMs });
    return connection;
  } catch (error) {
    await connection.close();
    throw error;
  }
}

function otherWay(
  config: ServerConfig,
  error: unknown,
  nowMs: number,
): { readonly config: ServerConfig; readonly verdict: Verdict } | undefined {
  const cause = error instanceof Error ? error.cause : undefined;
  if (wantsOldGreeting(cause, config)) return { config, verdict: verdict(false, nowMs) };
  if (config.kind === 'http' && mayBeSse(cause)) {
    return { config: asSse(config), verdict: verdict(true, nowMs) };
  }
  return undefined;
}

function verdict(sse: boolean, atMs: number): Verdict {
  return { era: 'legacy', sse, atMs };
}

function asSse(config: ServerConfig): ServerConfig {
  return config.kind === 'http' ? { ...config, kind: 'sse' } : config;
}
