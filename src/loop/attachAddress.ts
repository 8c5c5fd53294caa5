import { lookup as systemLookup } from 'node:dns';
import { isIP } from 'node:net';
import { hostOf, isLoopback } from '../base/addresses.ts';
import { messageOf } from '../base/errors.ts';
import { limitBody } from '../base/httpBody.ts';
import { linkFetched, readAddress } from '../chat/edits/addressLink.ts';
import { reachOf, refusalReason } from '../mcp/config/networkReach.ts';
import { MAX_TIMER_MS } from '../mcp/connection/requestTimers.ts';
import { RefusedAddressError, sendConfined } from '../mcp/oauth/confinedFetch.ts';
import type { ChatDocument, RunOutcome } from '../ports/document.ts';
import type { AssetStore } from '../ports/results.ts';
import { ByteSaver, NO_SPILLS, type SaveLimits } from '../result/saveBytes.ts';
import { EDIT_FAILED, failed, STOPPED } from './document.ts';

interface AddressDeps {
  readonly document: Pick<ChatDocument, 'edit'>;
  readonly assets: Pick<AssetStore, 'beginResult'>;
  readonly limits: SaveLimits;
  /** Asks the user whether the host may be contacted. */
  readonly mayFetch: (url: URL, signal: AbortSignal) => Promise<boolean>;
  readonly signal: AbortSignal;
  readonly timeoutMs: number;
  readonly lookup?: typeof systemLookup;
}

/**
 * Fetches an address once, saves it as an asset and makes the link lead to the file, so that no request of the chat
 * fetches anything. Nothing is sent before the user has agreed.
 */
export async function attachAddress(address: string, deps: AddressDeps): Promise<RunOutcome> {
  const { document, assets, limits, mayFetch, signal } = deps;
  const url = readAddress(address);
  if (!url) return failed(`“${address}” is not a web address. Use one that begins with https://.`);
  const refusal = refusalReason(url);
  if (refusal !== undefined) return failed(`${url.href} is not fetched: ${refusal}.`);
  if (!(await mayFetch(url, signal)))
    return { ...failed(`${url.host} is not allowed, so nothing was fetched.`), cancelled: true };
  try {
    const { bytes, declared } = await fetchAddress(url, deps);
    const saver = new ByteSaver(assets.beginResult({ keepsCopies: false }), NO_SPILLS, limits);
    const origin = { what: `content of ${url.href}`, block: 'file', declared, uri: url.pathname } as const;
    const { part } = await saver.save({ kind: 'bytes', bytes }, origin);
    if (part.kind !== 'asset') return failed(part.message);
    const { path } = part.asset;
    const isLinked = await document.edit((text) => linkFetched(text, url.href, path));
    return isLinked ? { ok: true, assets: [path] } : failed(EDIT_FAILED);
  } catch (error) {
    if (signal.aborted) return STOPPED;
    return failed(`${url.href} could not be fetched. ${messageOf(error)}`);
  }
}

const MAX_REDIRECTS = 5;
const REDIRECTS: ReadonlySet<number> = new Set([301, 302, 303, 307, 308]);
/** The bytes are saved as they come, so they must not be compressed. */
const HEADERS = { accept: '*/*', 'accept-encoding': 'identity', 'user-agent': 'Filechat' };

async function fetchAddress(
  first: URL,
  { limits, signal, timeoutMs, lookup = systemLookup }: AddressDeps,
): Promise<{ readonly bytes: Uint8Array; readonly declared: string }> {
  const timeout = AbortSignal.timeout(Math.min(Math.round(timeoutMs), MAX_TIMER_MS));
  const inTime = AbortSignal.any([signal, timeout]);
  try {
    let url = first;
    for (let redirects = 0; redirects <= MAX_REDIRECTS; redirects += 1) {
      const request = new Request(url, { headers: HEADERS, signal: inTime });
      const { response } = await sendConfined(request, { nearest: nearestFor(url), lookup });
      if (!REDIRECTS.has(response.status)) return await readBody(response, url, limits.maxAssetBytes);
      await response.body?.cancel();
      url = redirectOf(url, response.headers.get('location') ?? '');
    }
    throw new Error(`It redirects more than ${MAX_REDIRECTS} times.`);
  } catch (error) {
    if (error instanceof RefusedAddressError) throw new Error(NEAR, { cause: error });
    if (timeout.aborted) throw new Error(`It took longer than ${timeoutMs / 1000} s.`, { cause: error });
    throw error;
  }
}

const NEAR =
  'Its host name resolves to this machine or the local network. Such hosts are fetched only if the link uses an IP address or localhost.';

/** A host name must resolve to an internet address, so that DNS cannot redirect the request to this machine. */
function nearestFor(url: URL) {
  if (isLoopback(url)) return 'machine';
  return isIP(hostOf(url)) === 0 ? 'internet' : reachOf(hostOf(url));
}

/** The user has agreed to one host only. */
function redirectOf(url: URL, location: string): URL {
  const next = readAddress(location, url.href);
  if (!next) throw new Error(`It redirects to “${location}”, which is not a web address.`);
  if (next.host !== url.host || refusalReason(next) !== undefined)
    throw new Error(`It redirects to ${next.href}. To fetch that, attach it instead.`);
  return next;
}

async function readBody(response: Response, url: URL, maxBytes: number) {
  const { headers } = response;
  const encoding = headers.get('content-encoding') ?? 'identity';
  const problem = !response.ok
    ? `${url.host} responded with ${response.status}.`
    : encoding !== 'identity' &&
      `${url.host} sent a compressed response (${encoding}) that was not requested.`;
  if (problem) {
    await response.body?.cancel();
    throw new Error(problem);
  }
  const bytes = new Uint8Array(await limitBody(response, { maxBytes }).arrayBuffer());
  return { bytes, declared: headers.get('content-type') ?? '' };
}
