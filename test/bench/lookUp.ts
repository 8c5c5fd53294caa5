import { type Cell, type ClientName, LIMIT_MS, type Measurement, type Way } from './types.ts';

export const WAY_TITLES: Readonly<Record<Way, string>> = {
  stdio: 'stdio',
  json: 'HTTP, JSON',
  sse: 'HTTP, SSE',
};
export const CLIENT_TITLES: Readonly<Record<ClientName, string>> = {
  floor: 'floor',
  ours: 'Filechat',
  sdk2: 'SDK v2',
  sdk1: 'SDK v1',
};
export const TOO_SLOW = `> ${LIMIT_MS / 1000} s`;

/** Nothing when it was not measured, or could not be. */
export function findImage(
  cells: readonly Cell[],
  { way, client, mb }: { readonly way: Way; readonly client: ClientName; readonly mb: number },
): Measurement | undefined {
  const found = cells.find(
    (cell) => cell.way === way && cell.client === client && cell.load.kind === 'image' && cell.load.mb === mb,
  );
  return found?.outcome.kind === 'measured' ? found.outcome : undefined;
}

/** How many times as long 256 MB take as 32 MB. */
export function growth(cells: readonly Cell[], way: Way, client: ClientName): number | undefined {
  const small = findImage(cells, { way, client, mb: 32 });
  const large = findImage(cells, { way, client, mb: 256 });
  return small && large && large.ms / small.ms;
}
