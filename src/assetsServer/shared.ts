import type { Tool } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { Catalog } from '../catalog/catalog.ts';
import { type UploadLimits, UploadStores } from '../catalog/save.ts';
import { inputSchema, SERVER_WINDOW, type ToolSpec, toolSpecs } from '../catalog/tools/specs.ts';
import { Watching } from './changes.ts';
import type { ServeOptions } from './usage.ts';

/** Shared by all connections of a server. */
export interface Shared {
  readonly catalog: Catalog;
  readonly watching: Watching;
  readonly tools: readonly Tool[];
  readonly version: string;
  /** Undefined when the server is read-only. */
  readonly uploads?: UploadLimits | undefined;
  readonly stores: UploadStores;
  /** Writes to stderr, never to clients. */
  readonly log: (message: string) => void;
}

export function createShared(options: Omit<ServeOptions, 'port'> & Pick<Shared, 'version' | 'log'>): Shared {
  const { folders, readOnly, maxUploadBytes, allowedTypes, version, log } = options;
  const catalog = new Catalog({ folders });
  const allowedMimeTypes = allowedTypes.length === 0 ? ['*/*'] : allowedTypes;
  return {
    catalog,
    watching: new Watching(catalog, log),
    tools: listTools(readOnly),
    version,
    ...(readOnly ? {} : { uploads: { maxBytes: maxUploadBytes, allowedMimeTypes } }),
    stores: new UploadStores(),
    log,
  };
}

export const SERVER_SPECS = toolSpecs(SERVER_WINDOW);

/** Created once, because over HTTP every request has its own server. */
function listTools(readOnly: boolean): readonly Tool[] {
  const specs: readonly ToolSpec[] = Object.values(SERVER_SPECS);
  return specs.filter(({ annotations }) => annotations.readOnlyHint || !readOnly).map(toolOf);
}

function toolOf(spec: ToolSpec): Tool {
  const { name, title, description, annotations, output } = spec;
  return {
    name,
    title,
    description,
    annotations,
    inputSchema: inputSchema(spec) as Tool['inputSchema'],
    outputSchema: z.toJSONSchema(output, { io: 'output' }) as Tool['outputSchema'],
  };
}
