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
 * A `fetch` for servers that are busy. They may close an idle connection at the very moment at which it is used again,
 * and a call that breaks off so is lost, because nobody knows whether it was made. So no connection is used twice; and
 * what breaks off all the same before anything of an answer came is said once again, where that can do no harm.
 */
export function createCarefulFetch(send: FetchLike): FetchLike {
  return async (url, given) => {
    const init = withoutReuse(given);
    try {
      return await send(url, init);
    } catch (error) {
      if (!BROKEN_OFF.has(networkCode(error)) || !isRepeatable(init)) throw error;
      return await send(url, init).catch((second: unknown) => {
        throw init.signal?.aborted ? second : error;
      });
    }
  };
}

function withoutReuse(init: RequestInit = {}): RequestInit {
  const headers = new Headers(init.headers);
  headers.set('connection', 'close');
  return { ...init, headers };
}

function isRepeatable({ method = 'GET', body }: RequestInit): boolean {
  if (method === 'GET') return true;
  if (method !== 'POST' || typeof body !== 'string' || body.length > MAX_BODY_CHARS) return false;
  try {
    return REPEATABLE.has((JSON.parse(body) as { readonly method?: unknown } | null)?.method);
  } catch {
    return false;
  }
}
