import {
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type Tool,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { Catalog } from '../catalog/catalog.ts';
import { CatalogRefusal, type ReadThresholds } from '../catalog/entry.ts';
import { type UploadLimits, UploadStores } from '../catalog/save.ts';
import { inputSchema, SERVER_SPECS } from '../catalog/specs.ts';
import { Watching } from '../catalog/watch.ts';
import type { Audit } from '../ports/tools.ts';
import type { ServeOptions } from './usage.ts';

/** Shared by all connections of a server. */
export interface Shared {
  readonly catalog: Catalog;
  readonly watching: Watching;
  readonly tools: readonly Tool[];
  readonly version: string;
  /** The largest image or audio that is returned as such content. */
  readonly maxMediaBytes: number;
  readonly thresholds: ReadThresholds;
  readonly audit?: Audit | undefined;
  /** Undefined when the server is read-only. */
  readonly uploads?: UploadLimits | undefined;
  readonly stores: UploadStores;
  /** Writes to stderr, never to clients. */
  readonly log: (message: string) => void;
}

export function createShared(
  options: Omit<ServeOptions, 'port' | 'audit'> & Pick<Shared, 'version' | 'log' | 'audit'>,
): Shared {
  const { folders, readOnly, maxUploadBytes, allowedTypes, maxMediaBytes, version, audit, log } = options;
  const catalog = new Catalog({ folders });
  const allowedMimeTypes = allowedTypes.length === 0 ? ['*/*'] : allowedTypes;
  return {
    catalog,
    watching: new Watching(catalog, { onNote: log }),
    tools: listTools(readOnly),
    version,
    maxMediaBytes,
    thresholds: options,
    audit,
    ...(readOnly ? {} : { uploads: { maxBytes: maxUploadBytes, allowedMimeTypes } }),
    stores: new UploadStores(),
    log,
  };
}

/** Created once, because over HTTP every request has its own server. */
function listTools(readOnly: boolean): readonly Tool[] {
  return Object.values(SERVER_SPECS)
    .filter(({ annotations }) => annotations.readOnlyHint || !readOnly)
    .map((spec) => ({
      name: spec.name,
      title: spec.title,
      description: spec.description,
      annotations: { title: spec.title, ...spec.annotations },
      inputSchema: inputSchema(spec) as Tool['inputSchema'],
      outputSchema: z.toJSONSchema(spec.output, { io: 'output' }) as Tool['outputSchema'],
    }));
}

/** Shown to clients instead of unexpected errors, whose messages may contain paths. */
export const INTERNAL_ERROR = 'This failed inside the server. See its log on stderr.';

/** Turns every failure of a request into one that clients may see. `uri` is the requested resource, if there is one. */
export async function answering<T>(
  { log }: Pick<Shared, 'log'>,
  { uri, signal }: { readonly uri?: string; readonly signal: AbortSignal },
  work: () => Promise<T>,
): Promise<T> {
  try {
    return await work();
  } catch (error) {
    if (error instanceof ProtocolError) throw error;
    if (error instanceof CatalogRefusal) {
      throw uri === undefined
        ? new ProtocolError(ProtocolErrorCode.InvalidParams, error.message)
        : new ResourceNotFoundError(uri, error.message);
    }
    // A cancelled request needs no log entry.
    if (!signal.aborted) logError({ log }, error);
    throw new ProtocolError(ProtocolErrorCode.InternalError, INTERNAL_ERROR);
  }
}

export function logError({ log }: Pick<Shared, 'log'>, error: unknown): void {
  log(error instanceof Error ? (error.stack ?? error.message) : String(error));
}
