import type { FetchLike } from '@modelcontextprotocol/client';
import { networkCode } from './failure.ts';

/** What only asks, or changes the same however often it is said. A call of a tool is none of them. */
const REPEATABLE: ReadonlySet<unknown> = new Set([
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
const BROKEN_OFF: ReadonlySet<unknown> = new Set(['ECONNRESET', 'EPIPE', 'UND_ERR_SOCKET']);
/** No question is longer, and a call may be very long. */
const MAX_BODY_CHARS = 64 * 1024;

/**
 * A `fetch` that says once again what broke off before anything of an answer came, where that can do no harm: a
 * server that is busy may close an idle connection at the very moment at which it is used again.
 */
export function createRetryingFetch(send: FetchLike): FetchLike {
  return async (url, init) => {
    try {
      return await send(url, init);
    } catch (error) {
      if (!BROKEN_OFF.has(networkCode(error)) || !isRepeatable(init)) throw error;
      // Other idle connections may have been closed with this one, which shows by then.
      await new Promise(setImmediate);
      return await send(url, init).catch((second: unknown) => {
        throw init?.signal?.aborted ? second : error;
      });
    }
  };
}

function isRepeatable({ method = 'GET', body }: RequestInit = {}): boolean {
  if (method === 'GET') return true;
  if (method !== 'POST' || typeof body !== 'string' || body.length > MAX_BODY_CHARS) return false;
  try {
    return REPEATABLE.has((JSON.parse(body) as { readonly method?: unknown } | null)?.method);
  } catch {
    return false;
  }
}
