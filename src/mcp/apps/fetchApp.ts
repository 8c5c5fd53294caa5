import { field } from '../../base/json2.ts';
import type { ResourceList, ResourceName, ServerHost } from '../../ports.ts';
import { type App, type AppContents, MAX_APP_BYTES, readAppResource } from './app.ts';

export interface FetchAppOptions {
  /** The server runs on this machine. */
  readonly local?: boolean;
  readonly signal?: AbortSignal | undefined;
}

/** Gets the page of an app from its server. Never rejects but by the signal: what failed is the problem. */
export async function fetchApp(
  host: Pick<ServerHost, 'fetchResource' | 'listResources'>,
  name: ResourceName,
  { local = false, signal }: FetchAppOptions = {},
): Promise<App | { readonly problem: string }> {
  try {
    const contents: readonly AppContents[] = await host.fetchResource(name, {
      // A page that is only a little too long should be told so by us, in one voice.
      maxBytes: 2 * MAX_APP_BYTES,
      signal,
    });
    const says = contents.some(({ meta }) => field(meta, 'ui') !== undefined);
    const listed = says ? undefined : metaOf(await host.listResources(name.server, signal), name.uri);
    return readAppResource(contents, { local, listed });
  } catch (error) {
    signal?.throwIfAborted();
    return { problem: error instanceof Error ? error.message : String(error) };
  }
}

function metaOf({ resources }: ResourceList, uri: string): unknown {
  return field(
    resources.find((each) => each.uri === uri),
    'meta',
  );
}
