import { ProtocolError, ProtocolErrorCode, ResourceNotFoundError } from '@modelcontextprotocol/server';
import { CatalogRefusal } from '../catalog/entry.ts';

/** Shown to clients instead of unexpected errors, whose messages may contain paths. */
export const INTERNAL_ERROR = 'This failed inside the server. See its log on stderr.';

interface WithLog {
  readonly log: (message: string) => void;
}

/** Turns every failure of a request into one that clients may see. `uri` is the requested resource, if there is one. */
export async function answering<T>(
  { log }: WithLog,
  { uri, signal }: { readonly uri?: string; readonly signal: AbortSignal },
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
    // A cancelled request needs no log entry.
    if (!signal.aborted) logError({ log }, error);
    throw new ProtocolError(ProtocolErrorCode.InternalError, INTERNAL_ERROR);
  }
}

export function logError({ log }: WithLog, error: unknown): void {
  log(error instanceof Error ? (error.stack ?? error.message) : String(error));
}
