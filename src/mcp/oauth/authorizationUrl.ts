import type { FetchLike } from '@modelcontextprotocol/client';
import { refusalReason } from '../config/addresses.ts';

/** Thrown for an address that a server sent us to and that we do not go to. The SDK lets errors of this type through. */
export class RefusedAddressError extends TypeError {
  override readonly name = 'RefusedAddressError';
}

/**
 * Throws for what must never be opened or fetched, whoever asks for it: anything but https, addresses with a user
 * name in them, and the addresses at which machines of a cloud find their own credentials.
 */
export function checkAuthorizationUrl(url: string | URL): URL {
  if (!URL.canParse(String(url))) {
    throw new RefusedAddressError('The sign-in address that the server names is not an address.');
  }
  const parsed = new URL(url);
  const reason = refusalReason(parsed);
  if (reason !== undefined) {
    throw new RefusedAddressError(`The sign-in address ${describe(parsed)} is refused: ${reason}.`);
  }
  return parsed;
}

/** How long one request to an authorization server may take, and how much it may answer. */
const REQUEST_TIMEOUT_MS = 30_000;
const MAX_ANSWER_BYTES = 1024 * 1024;

/** A `fetch` that goes only where `checkAuthorizationUrl` lets it, and follows no redirect by itself. */
export function guardFetch(fetchFn: FetchLike, signal: AbortSignal): FetchLike {
  return async (url, init) => {
    const address = checkAuthorizationUrl(url);
    const response = await fetchFn(url, {
      ...init,
      redirect: 'manual',
      signal: AbortSignal.any([signal, AbortSignal.timeout(REQUEST_TIMEOUT_MS)]),
    });
    const location = response.headers.get('location');
    if (location !== null && URL.canParse(location, address.href)) {
      // Whoever follows it comes here again, but a refusal says more than an odd status.
      checkAuthorizationUrl(new URL(location, address));
    }
    const { status, statusText, headers } = response;
    return new Response(await readBody(response), { status, statusText, headers });
  };
}

async function readBody(response: Response): Promise<Uint8Array<ArrayBuffer> | null> {
  if (response.body === null) return null;
  const chunks: Uint8Array[] = [];
  let size = 0;
  for await (const chunk of response.body) {
    size += chunk.length;
    if (size > MAX_ANSWER_BYTES) {
      throw new RefusedAddressError('The authorization server answers without end.');
    }
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

const MAX_SHOWN_CHARS = 200;

/** Without what follows the host, which may be long and hold anything. */
function describe({ protocol, host }: URL): string {
  return `${protocol}${host === '' ? '' : `//${host}`}`.slice(0, MAX_SHOWN_CHARS);
}
