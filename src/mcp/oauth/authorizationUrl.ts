import type { FetchLike } from '@modelcontextprotocol/client';
import { refusalReason } from '../config/addresses.ts';

/** For URLs and responses that are not allowed. A TypeError, because the SDK rethrows those. */
export class RefusedAddressError extends TypeError {
  override readonly name = 'RefusedAddressError';
}

/** Throws for URLs that must never be opened or fetched; see `refusalReason`. */
export function checkAuthorizationUrl(url: string | URL): URL {
  if (!URL.canParse(String(url))) {
    throw new RefusedAddressError('The sign-in address of the server is not a valid URL.');
  }
  const parsed = new URL(url);
  const reason = refusalReason(parsed);
  if (reason !== undefined) {
    throw new RefusedAddressError(`The sign-in address ${describe(parsed)} is not allowed: ${reason}.`);
  }
  return parsed;
}

const REQUEST_TIMEOUT_MS = 30_000;
const MAX_RESPONSE_BYTES = 1024 * 1024;

/** A `fetch` that checks every URL, follows no redirects, and limits time and size. */
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
      // A followed redirect is checked again, but this error is clearer than an unexpected status.
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
    if (size > MAX_RESPONSE_BYTES) {
      throw new RefusedAddressError('The response of the authorization server is too large.');
    }
    chunks.push(chunk);
  }
  return new Uint8Array(Buffer.concat(chunks));
}

const MAX_SHOWN_CHARS = 200;

/** Scheme and host only; the rest may be long and contain anything. */
function describe({ protocol, host }: URL): string {
  return `${protocol}${host === '' ? '' : `//${host}`}`.slice(0, MAX_SHOWN_CHARS);
}
