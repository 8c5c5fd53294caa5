import type { Catalog } from './catalog.ts';
import type { AssetEntry, ChatId } from './types.ts';

export interface AssetQuery {
  /** Only those of one chat. */
  readonly chat?: ChatId | undefined;
  /** Words that its name, file name, type or tool must hold, whatever their case. */
  readonly filter?: string | undefined;
  readonly kind?: AssetEntry['assetKind'] | undefined;
  /** `image/*` or `application/pdf`. */
  readonly mimeType?: string | undefined;
  readonly sort?: 'changed' | 'name' | 'size' | undefined;
  readonly order?: 'ascending' | 'descending' | undefined;
  readonly limit?: number | undefined;
  readonly cursor?: string | undefined;
}

export interface AssetPage {
  readonly assets: readonly AssetEntry[];
  /** How many there are that fit, on all pages. */
  readonly total: number;
  readonly nextCursor?: string;
  /** What could not be looked into, or was left out because there is too much. */
  readonly notes: readonly string[];
}

export const MAX_PAGE = 200;
export const DEFAULT_PAGE = 50;

export async function listAssets(_catalog: Catalog, _query: AssetQuery): Promise<AssetPage> {
  throw new Error('to be built');
}
