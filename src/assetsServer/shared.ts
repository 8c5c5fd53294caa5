import type { Tool } from '@modelcontextprotocol/server';
import * as z from 'zod';
import { Catalog } from '../catalog/catalog.ts';
import { type UploadLimits, UploadStores } from '../catalog/save.ts';
import type { ToolSpecs } from '../catalog/tools/specs.ts';
import { inputSchema, SERVER_WINDOW, type ToolSpec, toolSpecs } from '../catalog/tools/specs.ts';
import { Watching } from './changes.ts';

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
    tools: describeOfferedTools({ readOnly }),
    version,
    ...(readOnly ? {} : { uploads: { maxBytes: maxUploadBytes, allowedMimeTypes } }),
    stores: new UploadStores(),
    log,
  };
}

export interface OfferedTools {
  readonly specs: ToolSpecs;
  readonly listed: readonly Tool[];
}

/** Made once: over HTTP every request has a server of its own. */
export function describeOfferedTools({ readOnly }: { readonly readOnly: boolean }): OfferedTools {
  const specs = toolSpecs(SERVER_WINDOW);
  const all: readonly ToolSpec[] = Object.values(specs);
  return {
    specs,
    listed: all.filter(({ annotations }) => annotations.readOnlyHint || !readOnly).map(toolOf),
  };
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
