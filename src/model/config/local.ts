import { BUDGET } from '../../base/budget.ts';
import { limitBody } from '../../base/httpBody.ts';
import { type ListedModel, readListing } from './listing.ts';
import type { LocalServer } from './presets.ts';

/** A server that runs on this machine responds at once, but a busy machine can be slow. */
const TIMEOUT_MS = 1_000;
const MAX_MODELS = 100;

interface ProbeOptions {
  readonly signal?: AbortSignal | undefined;
  readonly fetch?: typeof globalThis.fetch | undefined;
  readonly timeoutMs?: number | undefined;
}

/** The models of a program on this machine; none if it is not running or is another program. Never rejects. */
export async function listLocalModels(
  { baseUrl }: Pick<LocalServer, 'baseUrl'>,
  { signal, fetch = globalThis.fetch, timeoutMs = TIMEOUT_MS }: ProbeOptions = {},
): Promise<readonly ListedModel[]> {
  const deadline = AbortSignal.timeout(timeoutMs);
  try {
    const response = await fetch(`${baseUrl}/models`, {
      // A redirect could lead to another machine.
      redirect: 'error',
      signal: signal ? AbortSignal.any([signal, deadline]) : deadline,
    });
    const limited = limitBody(response, { maxBytes: BUDGET.bodyBytes });
    return response.ok ? (readListing(await limited.json()) ?? []).slice(0, MAX_MODELS) : [];
  } catch {
    // Nothing listens there, or it does not list models.
    return [];
  }
}
