import type { Resource } from '@modelcontextprotocol/server';
import { describeEntry, entryMeta, entryTitle } from '../catalog/about.ts';
import type { Entry } from '../catalog/entry.ts';

/** An entry as lists of resources show it. */
export function resourceOf(entry: Entry): Resource {
  return {
    uri: entry.uri,
    name: entry.kind === 'chat' ? entry.chat : entry.asset,
    title: entryTitle(entry),
    description: describeEntry(entry),
    mimeType: entry.mimeType,
    size: entry.size,
    annotations: { lastModified: entry.changed.toISOString() },
    _meta: entryMeta(entry),
  };
}
