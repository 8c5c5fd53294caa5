import type { FetchLike } from '@modelcontextprotocol/client';
import { networkCode } from './failure.ts';

/** Idempotent methods. `tools/call` must never be here. */
const IDEMPOTENT: ReadonlySet<unknown> = new Set([
  'server/discover',
  'initialize',
  'notifications/initialized',
  'ping',
  'logging/setLevel',
  'tools/list',
  'resources/list',
  'resources/templates/list',
  'resources/read',
  'resources/subscribe',
  'resources/unsubscribe',
  'prompts/list',
  'prompts/get',
  'completion/complete',
  'tasks/get',
]);
const CONNECTION_LOST: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
/** Longer bodies are calls, and are not parsed. */
const MAX_BODY_CHARS = 64 * 1024;

/**
 * A `fetch` that retries idempotent requests once if the connection is lost before a response: a busy server may close
 * an idle connection just when it is used again.
 */
export function createRetryingFetch(send: FetchLike): FetchLike {
  return async (url, init) => {
    try {
      return await send(url, init);
    } catch (error) {
      if (!CONNECTION_LOST.has(networkCode(error)) || !isIdempotent(init)) throw error;
      // Lets the pool notice other connections that were closed with this one.
      await new Promise(setImmediate);
      return await send(url, init).catch((second: unknown) => {
        throw init?.signal?.aborted ? second : error;
      });
    }
  };
}

function isIdempotent({ method = 'GET', body }: RequestInit = {}): boolean {
  if (method === 'GET') return true;
  if (method !== 'POST' || typeof body !== 'string' || body.length > MAX_BODY_CHARS) return false;
  try {
    return IDEMPOTENT.has((JSON.parse(body) as { readonly method?: unknown } | null)?.method);
  } catch {
    return false;
  }
}
