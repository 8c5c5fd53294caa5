import type { Asset } from '../ports.ts';
import type { Found } from './findBytes.ts';
import { describeAsset } from './modelView.ts';
import { describeSize, summarize } from './summary.ts';

/** What has become of some bytes. */
export interface Saved {
  readonly size: number;
  /** Nothing when they could not be saved. */
  readonly asset?: Asset;
  readonly mimeType?: string;
}

/**
 * The words that stand where bytes were in JSON. They hold no sign that a string, at whatever depth, would
 * have to escape.
 */
export function valueWords({ asset, size, mimeType = '' }: Saved, found?: Found): string {
  if (!asset) return `(${describeSize(size)}, not saved)`;
  const summary = found?.kind === 'bytes' ? found.summary : undefined;
  if (summary === undefined) return `(${mimeType}, ${size} bytes, saved as ${asset.kind} ${asset.number})`;
  const words = summarize(describeAsset(asset, mimeType, { size }), summary);
  return words.replace(/["\\]/g, "'");
}

/** The words in a text that people read; what they name follows the text. */
export function mentionWords({ asset }: Saved, found: Found): string {
  const label = found.kind === 'bytes' && found.label ? ` “${found.label}”` : '';
  return asset ? `[${asset.kind} ${asset.number}${label}: see below]` : `[not saved${label}: see below]`;
}

export function looksLikeJson(text: string): boolean {
  return /^\s*[[{]/.test(text);
}

const MAX_LAID_OUT_CHARS = 100_000;

/** JSON in one line, laid out for reading, if nothing but its white space changes by that. */
export function layOutJson(text: string): string {
  if (text.length > MAX_LAID_OUT_CHARS || text.includes('\n')) return text;
  try {
    const value: unknown = JSON.parse(text);
    return JSON.stringify(value) === text ? JSON.stringify(value, null, 2) : text;
  } catch {
    return text;
  }
}
