import type { Catalog } from './catalog.ts';
import type { AssetEntry, ChatId } from './types.ts';

export interface Upload {
  /** Beside which chat; nothing when there is but one folder and it should be in the `cmdassets/` of that. */
  readonly chat?: ChatId | undefined;
  /** What it is called: one name, without folders. */
  readonly name: string;
  readonly mimeType?: string | undefined;
  /** One of the two. */
  readonly data?: string | undefined;
  readonly text?: string | undefined;
}

export interface UploadLimits {
  readonly maxBytes: number;
  readonly allowedMimeTypes: readonly string[];
}

export interface SavedUpload {
  readonly entry: AssetEntry;
  /** Ready to be written into the chat: `[quarterly.pdf](cmdassets/…)`. */
  readonly markdown: string;
}

/** Rejects with a `CatalogRefusal`; then nothing was written. */
export async function saveAsset(
  _catalog: Catalog,
  _upload: Upload,
  _limits: UploadLimits,
): Promise<SavedUpload> {
  throw new Error('to be built');
}
