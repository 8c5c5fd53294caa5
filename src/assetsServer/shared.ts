import { Catalog } from '../catalog/catalog.ts';
import { type UploadLimits, UploadStores } from '../catalog/save.ts';
import { describeTools, type OfferedTools } from './tools.ts';
import { Watching } from './watching.ts';

/** What all connections of one server have in common. */
export interface Shared {
  readonly catalog: Catalog;
  readonly watching: Watching;
  readonly tools: OfferedTools;
  readonly version: string;
  /** Nothing when nothing may be saved. */
  readonly uploads?: UploadLimits | undefined;
  readonly stores: UploadStores;
  /** For who runs the server, on stderr; never for its clients. */
  readonly log: (message: string) => void;
}

export interface SharedOptions {
  readonly folders: readonly string[];
  readonly readOnly: boolean;
  readonly maxUploadBytes: number;
  readonly allowedTypes: readonly string[];
  readonly version: string;
  readonly log: (message: string) => void;
}

export function createShared(options: SharedOptions): Shared {
  const { folders, readOnly, maxUploadBytes, allowedTypes, version, log } = options;
  const catalog = new Catalog({ folders });
  const allowedMimeTypes = allowedTypes.length === 0 ? ['*/*'] : allowedTypes;
  return {
    catalog,
    watching: new Watching(catalog, log),
    tools: describeTools({ readOnly }),
    version,
    ...(readOnly ? {} : { uploads: { maxBytes: maxUploadBytes, allowedMimeTypes } }),
    stores: new UploadStores(),
    log,
  };
}
