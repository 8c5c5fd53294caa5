import { readReference } from './reference.ts';

/** An `asset:` reference as it stands in a text. */
export interface WrittenReference {
  readonly name: string;
  readonly start: number;
  readonly end: number;
}

/** More than anybody clicks. */
const MAX_FOUND = 5_000;
const MAYBE = /(?<![\w./:-])asset:[\w.-]+\w/g;

/** All references to assets in a text, whatever it is: arguments, prose or code. */
export function findAssetReferences(text: string): readonly WrittenReference[] {
  const found: WrittenReference[] = [];
  for (const match of text.matchAll(MAYBE)) {
    const read = readReference(match[0]);
    if (read.kind !== 'reference' || read.reference.kind !== 'asset') continue;
    found.push({ name: read.reference.name, start: match.index, end: match.index + match[0].length });
    if (found.length === MAX_FOUND) break;
  }
  return found;
}
