export const WAYS = ['stdio', 'json', 'sse'] as const;
/** The transport of a result: a pipe, or Streamable HTTP with one JSON body or an event stream. */
export type Way = (typeof WAYS)[number];

export const CLIENTS = ['floor', 'ours', 'sdk2', 'sdk1'] as const;
export type ClientName = (typeof CLIENTS)[number];

/** The requested result: one image of this many MiB of base64, or this many small blocks. */
export type Load =
  | { readonly kind: 'image'; readonly mb: number }
  | { readonly kind: 'blocks'; readonly count: number };

export type Target =
  | { readonly kind: 'stdio'; readonly command: string; readonly args: readonly string[] }
  | { readonly kind: 'http'; readonly url: string };

/** One block as the client saved it. */
export type Item =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'file'; readonly path: string };

export interface BenchClient {
  /** Resolves when every binary block is a file in the folder; the items are in the order of the blocks. */
  call(load: Load, folder: string): Promise<readonly Item[]>;
  close(): Promise<void>;
}

export type Connect = (target: Target) => Promise<BenchClient>;

/** The task of a client process. */
export interface Task {
  readonly client: ClientName;
  readonly target: Target;
  readonly load: Load;
  /** Exists and is empty; the warm-up has one of its own. */
  readonly folder: string;
  readonly warmUpFolder: string;
}

export interface Measurement {
  readonly ms: number;
  /** Including `fsync`. Only for a result that is one file. */
  readonly durableMs?: number;
  /** The peak above the memory of the connected and warm process. */
  readonly rssBytes: number;
  readonly loopDelayMs: number;
}

/** A message from a client process to the runner. */
export type Report =
  | { readonly kind: 'started' }
  | { readonly kind: 'done'; readonly measurement: Measurement; readonly items: readonly Item[] }
  | { readonly kind: 'failed'; readonly reason: string };

export type Outcome =
  | (Measurement & { readonly kind: 'measured'; readonly runs: number })
  /** Stopped after LIMIT_MS. */
  | { readonly kind: 'tooSlow' }
  | { readonly kind: 'failed'; readonly reason: string }
  /** The bytes on disk differ from those that were sent. */
  | { readonly kind: 'wrong'; readonly reason: string }
  /** A smaller size was already too slow. */
  | { readonly kind: 'skipped' };

export interface Cell {
  readonly way: Way;
  readonly load: Load;
  readonly client: ClientName;
  readonly outcome: Outcome;
}

export const LIMIT_MS = 60_000;

/** Larger than any limit of the runner, so that only the runner stops a client. */
export const NO_TIMEOUT_MS = 10 * LIMIT_MS;
export const MAX_MESSAGE_BYTES = 1024 ** 3;

export const WARM_UP: Load = { kind: 'image', mb: 0 };

export function nameLoad(load: Load): string {
  return load.kind === 'image' ? `${load.mb} MB` : `${load.count.toLocaleString('en')} blocks`;
}

export function loadArguments(load: Load): { name: string; arguments: Record<string, number> } {
  return load.kind === 'image'
    ? { name: 'image', arguments: { mb: load.mb } }
    : { name: 'blocks', arguments: { count: load.count } };
}

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
