import {
  CLIENT_INFO_META_KEY,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
  ResourceNotFoundError,
  type ServerContext,
  type Tool,
} from '@modelcontextprotocol/server';
import * as z from 'zod';
import { stopwatch } from '../base/async.ts';
import { field } from '../base/json.ts';
import { visibleLine } from '../base/lines.ts';
import { Catalog } from '../catalog/catalog.ts';
import { CatalogRefusal, type ReadThresholds } from '../catalog/entry.ts';
import { type UploadLimits, UploadStores } from '../catalog/save.ts';
import { inputSchema, SERVER_SPECS } from '../catalog/toolSpecs.ts';
import { Watching } from '../catalog/watch.ts';
import type { Audit, AuditEntry, AuditedFile } from '../ports/tools.ts';
import type { ServeOptions } from './commandLine.ts';

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
export const INTERNAL_ERROR = 'Internal server error. See the log of the server on stderr.';

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

export const SERVER_NAME = 'filechat-assets';

const MAX_CLIENT_CHARS = 200;

/** `claude-ai 1.2.0`. Modern clients say who they are with each request, older ones once. */
export function clientOf({ server }: McpServer, { mcpReq }: ServerContext): string | undefined {
  const info = field(mcpReq.envelope, CLIENT_INFO_META_KEY) ?? server.getClientVersion();
  const words = [field(info, 'name'), field(info, 'version')].filter((word) => typeof word === 'string');
  return visibleLine(words.join(' ')).slice(0, MAX_CLIENT_CHARS) || undefined;
}

interface Access extends Pick<AuditEntry, 'kind' | 'name' | 'client'> {
  /** The file that the client named, for requests that fail. */
  readonly asked: unknown;
  readonly signal: AbortSignal;
}

/** Does the work of a request and records it. `filesOf` finds the files that were transferred. */
export async function recorded<T>(
  { audit }: Pick<Shared, 'audit'>,
  { asked, signal, ...entry }: Access,
  work: () => Promise<T>,
  filesOf: (result: T) => readonly AuditedFile[] | undefined,
): Promise<T> {
  if (!audit) return work();
  const elapsedMs = stopwatch();
  const named = typeof asked === 'string' ? [{ name: asked, bytes: 0 }] : undefined;
  const record = (outcome: AuditEntry['outcome'], files: AuditEntry['files']) =>
    audit.record({ ...entry, server: SERVER_NAME, files, outcome, ms: elapsedMs() });
  try {
    const result = await work();
    const isFailure = field(result, 'isError') === true;
    if (isFailure) record(signal.aborted ? 'cancelled' : 'error', named);
    else record('ok', filesOf(result));
    return result;
  } catch (error) {
    record(signal.aborted ? 'cancelled' : 'error', named);
    throw error;
  }
}
