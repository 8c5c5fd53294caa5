import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import { CatalogRefusal } from '../catalog/entry.ts';

/** What clients are told of anything that nobody has foreseen: the words of such errors may hold paths. */
export const UNFORESEEN = 'This failed inside the server. Its log on stderr says more.';

export interface Answering {
  /** What is asked for, where it is one resource. */
  readonly uri?: string;
  readonly signal: AbortSignal;
}

interface WithLog {
  readonly log: (message: string) => void;
}

/** Runs what answers a request about resources; every failure becomes one that clients may see. */
export async function answering<T>(
  { log }: WithLog,
  { uri, signal }: Answering,
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    if (error instanceof CatalogRefusal) {
      throw uri === undefined
        ? new ProtocolError(ProtocolErrorCode.InvalidParams, error.message)
        : new ResourceNotFoundError(uri, error.message);
    }
    // Nobody waits for the answer to what was cancelled.
    if (!signal.aborted) logUnforeseen({ log }, error);
    throw new ProtocolError(ProtocolErrorCode.InternalError, UNFORESEEN);
  }
}

export function logUnforeseen({ log }: WithLog, error: unknown): void {
  log(error instanceof Error ? (error.stack ?? error.message) : String(error));
}
