import { readAssetName } from './names.ts';

/** A name without its extension, wherever it stands: in a link, a quote, code, or a path that has moved. */
const MENTION = /tool-(?:image|audio|file)-\d{8}-\d{6}-[a-z0-9]+-\d+(?=\.)/gi;

/**
 * The names among these that are ours and that no text mentions. Any mention counts, in whatever case (some
 * disks do not tell cases apart): a file kept in vain costs less than one that is missed.
 */
export function findUnlinked(texts: Iterable<string>, names: Iterable<string>): string[] {
  const mentioned = new Set<string>();
  for (const text of texts) {
    for (const [mention] of text.matchAll(MENTION)) mentioned.add(mention.toLowerCase());
  }
  return [...names].filter((name) => readAssetName(name) && !mentioned.has(stem(name))).sort();
}

function stem(name: string): string {
  return name.slice(0, name.lastIndexOf('.')).toLowerCase();
}
