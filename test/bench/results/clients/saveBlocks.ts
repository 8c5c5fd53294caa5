import { writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Item } from '../types.ts';

interface Block {
  readonly type: string;
  readonly text?: string;
  readonly data?: string;
}

/** Saves a result as most users of an SDK do. */
export async function saveBlocks(blocks: readonly Block[], folder: string): Promise<readonly Item[]> {
  const items: Item[] = [];
  for (const { type, text = '', data = '' } of blocks) {
    if (type === 'text') {
      items.push({ kind: 'text', text });
      continue;
    }
    const path = join(folder, `${items.length}.png`);
    await writeFile(path, Buffer.from(data, 'base64'));
    items.push({ kind: 'file', path });
  }
  return items;
}
