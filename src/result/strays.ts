import { isRecord, mapStrings } from '../base/json.ts';
import type { Spill, Spills } from '../ports.ts';
import { describeSize } from './summary.ts';

/** A longer address or title is not worth reading back: it would be cut to a few words. */
const MAX_RESTORED_BYTES = 8 * 1024 * 1024;

/**
 * A placeholder means something where a block has bytes or text. In any other field, such as an address or
 * a title, the string that it stands for is put back.
 */
export async function restoreStrays(result: unknown, spills: Spills | undefined): Promise<unknown> {
  if (!spills || !isRecord(result) || !Array.isArray(result['content'])) return result;
  const content: readonly unknown[] = result['content'];
  const found = new Map<string, Spill>();
  for (const block of content) {
    mapStrays(block, (text) => {
      const spill = spills.find(text);
      if (spill) found.set(text, spill);
      return text;
    });
  }
  if (found.size === 0) return result;
  const restored = new Map<string, string>();
  for (const [placeholder, spill] of found) restored.set(placeholder, await restore(spill));
  return {
    ...result,
    content: content.map((block) => mapStrays(block, (text) => restored.get(text) ?? text)),
  };
}

async function restore(spill: Spill): Promise<string> {
  const words = `(${describeSize(spill.size)} of base64)`;
  if (spill.kind !== 'bytes' || !spill.original || spill.size > MAX_RESTORED_BYTES) return words;
  return spill.original().catch(() => words);
}

function mapStrays(block: unknown, replace: (text: string) => string): unknown {
  if (!isRecord(block)) return mapStrings(block, replace);
  const mapped = mapAllBut(['data', 'text'], block, replace);
  const { resource } = block;
  return isRecord(resource)
    ? { ...mapped, resource: mapAllBut(['text', 'blob'], resource, replace) }
    : mapped;
}

function mapAllBut(kept: readonly string[], owner: object, replace: (text: string) => string): object {
  return Object.fromEntries(
    Object.entries(owner).map(([key, value]) => [
      replace(key),
      kept.includes(key) && typeof value === 'string' ? value : mapStrings(value, replace),
    ]),
  );
}
