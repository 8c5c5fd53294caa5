import { customAlphabet } from 'nanoid';
import type { AssetKind } from '../ports/results.ts';

export const ASSET_FOLDER = 'cmdassets';

const LETTERS_AND_DIGITS = '0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz';
const RESULT_ID_CHARS = 10;

/** One for each tool result. */
export const newResultId: () => string = customAlphabet(LETTERS_AND_DIGITS, RESULT_ID_CHARS);

export interface AssetNameParts {
  readonly kind: AssetKind;
  readonly time: Date;
  readonly resultId: string;
  readonly number: number;
  readonly extension: string;
}

/** `tool-image-20261116-093012-V1StGXR8a0-1.png`, in the user's own time. */
export function assetName({ kind, time, resultId, number, extension }: AssetNameParts): string {
  const two = (value: number) => String(value).padStart(2, '0');
  const date = `${time.getFullYear()}${two(time.getMonth() + 1)}${two(time.getDate())}`;
  const clock = `${two(time.getHours())}${two(time.getMinutes())}${two(time.getSeconds())}`;
  return `tool-${kind}-${date}-${clock}-${resultId}-${number}.${extension}`;
}

const ASSET_NAME = /^tool-(image|audio|file)-\d{8}-\d{6}-[A-Za-z0-9]{8,}-[1-9]\d*\.([a-z0-9]+)$/;

/** What a name says, if it is one of ours. Files of any other name belong to somebody else. */
export function readAssetName(
  name: string,
): { readonly kind: AssetKind; readonly extension: string } | undefined {
  const [, kind, extension] = ASSET_NAME.exec(name) ?? [];
  return kind && extension ? { kind: kind as AssetKind, extension } : undefined;
}

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
