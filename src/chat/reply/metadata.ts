import type { ProviderMetadata } from '../../ports.ts';
import { NOTE_START } from './notes.ts';

/** What a provider wants back with a part, as a comment below the part. */
export interface MetadataNote {
  /** The check sum of the reasoning that it belongs to; empty when it belongs to no text at all. */
  readonly of?: string;
  readonly metadata: ProviderMetadata;
}

const NOTE = /^<!-- filechat:metadata (\{.*\}) -->[ \t]*$/;

/** One line of ASCII in which no comment can end. */
export function renderMetadata({ of, metadata }: MetadataNote): string {
  const json = JSON.stringify(of === undefined ? metadata : { of, ...metadata })
    .replace(/[^ -~]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)
    .replace(/-(?=-)/g, '\\u002d');
  return `${NOTE_START}metadata ${json} -->`;
}

/** Nothing when the line is no such note, or somebody has broken it. */
export function readMetadata(line: string): MetadataNote | undefined {
  const json = NOTE.exec(line)?.[1];
  if (json === undefined) return undefined;
  try {
    const { of, ...rest } = JSON.parse(json) as Record<string, unknown>;
    const known = Object.entries(rest).filter((entry): entry is [string, Record<string, unknown>] =>
      isObject(entry[1]),
    );
    return { ...(typeof of === 'string' ? { of } : {}), metadata: Object.fromEntries(known) };
  } catch {
    return undefined;
  }
}

export function mergeMetadata(a: ProviderMetadata | undefined, b: ProviderMetadata): ProviderMetadata {
  const merged: Record<string, Readonly<Record<string, unknown>>> = { ...a };
  for (const [provider, values] of Object.entries(b)) merged[provider] = { ...merged[provider], ...values };
  return merged;
}

function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
