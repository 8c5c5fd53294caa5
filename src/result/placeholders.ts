import { field, isObject, mapStrings } from '../base/json.ts';
import { describeSize } from '../base/size.ts';
import { isSvgType } from '../media/sniff.ts';
import type { Spill, Spills } from '../ports/results.ts';
import { isKnownBlock, READ_FIELDS } from './blocks.ts';
import { joined } from './textWindows.ts';

const MAX_RESTORED_BYTES = 8 * 1024 * 1024;

/** Restores the original strings of placeholders in fields other than bytes and text, such as a URI or a title. */
export async function restorePlaceholders(result: unknown, spills: Spills | undefined): Promise<unknown> {
  if (!spills || !isObject(result) || !Array.isArray(result['content'])) return result;
  const content: readonly unknown[] = result['content'];
  const found = new Map<string, { readonly spill: Spill; readonly maxBytes: number }>();
  for (const block of content) {
    mapOtherStrings(block, (text, isSource) => {
      const spill = spills.find(text);
      if (spill && !isSource) found.set(text, { spill, maxBytes: MAX_RESTORED_BYTES });
      else if (spill?.kind === 'bytes' && spill.textHash) found.set(text, { spill, maxBytes: spill.size });
      return text;
    });
  }
  if (found.size === 0) return result;
  const restored = new Map<string, string>();
  for (const [placeholder, { spill, maxBytes }] of found)
    restored.set(placeholder, await restore(spill, maxBytes));
  return {
    ...result,
    content: content.map((block) => mapOtherStrings(block, (text) => restored.get(text) ?? text)),
  };
}

async function restore(spill: Spill, maxBytes: number): Promise<string> {
  const isText = spill.kind === 'bytes' && spill.textHash !== undefined;
  const words = `(${describeSize(spill.size)} of ${isText ? 'text' : 'base64'})`;
  if (spill.kind !== 'bytes' || !spill.pieces || spill.size > maxBytes) return words;
  return joined(spill.pieces()).catch(() => words);
}

/** `isSource` if the text can be the source of an SVG image, which is read as a whole. */
type Replace = (text: string, isSource?: boolean) => string;

function mapOtherStrings(block: unknown, replace: Replace): unknown {
  // It is shown as JSON, in which all bytes are found.
  if (!isObject(block)) return block;
  if (!isKnownBlock(block)) {
    const read = (key: string, value: unknown) =>
      READ_FIELDS.has(key) && typeof value === 'string' ? replace(value) : value;
    return Object.fromEntries(Object.entries(block).map(([key, value]) => [key, read(key, value)]));
  }
  const mapped = mapAllBut(['data', 'blob', 'text'], block, replace);
  const { resource } = block;
  return isObject(resource)
    ? { ...mapped, resource: mapAllBut(['text', 'blob'], resource, replace) }
    : mapped;
}

function mapAllBut(kept: readonly string[], owner: object, replace: Replace): object {
  const type = field(owner, 'mimeType');
  const isSvg = typeof type === 'string' && isSvgType(type);
  const keep = (text: string) => (isSvg ? replace(text, true) : text);
  return Object.fromEntries(
    Object.entries(owner).map(([key, value]) => [
      replace(key),
      kept.includes(key) && typeof value === 'string'
        ? keep(value)
        : mapStrings(value, (text) => replace(text)),
    ]),
  );
}
