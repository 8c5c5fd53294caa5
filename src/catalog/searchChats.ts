import type { Role } from '../chat/marker.ts';
import type { Catalog } from './catalog.ts';
import type { ChatId } from './types.ts';

export interface ChatQuery {
  readonly query: string;
  readonly chat?: ChatId | undefined;
  /** A chat that is left out: who asks has it before its eyes. */
  readonly except?: ChatId | undefined;
  readonly limit?: number | undefined;
}

export interface ChatHit {
  readonly uri: string;
  readonly chat: ChatId;
  readonly title: string;
  /** Nothing where the title has all the words. */
  readonly role?: Role;
  /** Counted from 1. */
  readonly line: number;
  /** In bytes, as `readWindow` counts. */
  readonly start: number;
  readonly snippet: string;
}

export interface ChatHits {
  readonly hits: readonly ChatHit[];
  /** There are more than the limit. */
  readonly more: boolean;
}

export const MAX_HITS = 100;
export const DEFAULT_HITS = 20;

export async function searchChats(
  _catalog: Catalog,
  _query: ChatQuery,
  _signal?: AbortSignal,
): Promise<ChatHits> {
  throw new Error('to be built');
}
