import { mkdirSync, readdirSync } from 'node:fs';
import { beforeEach } from 'node:test';
import { useTree } from '../catalog/tree.ts';

export interface ChatFolder {
  /** The folder of the chat. */
  readonly path: string;
  /** A path in its `cmdassets/`. */
  asset(name: string): string;
  /** All that is in `cmdassets/`. */
  files(): string[];
}

/** A fresh folder for each test of the file, with an empty `cmdassets/` in it. */
export function useChatFolder(): ChatFolder {
  const tree = useTree();
  const asset = (name: string) => tree.at('cmdassets', name);
  beforeEach(() => mkdirSync(asset('')));
  return {
    get path() {
      return tree.path;
    },
    asset,
    files: () => readdirSync(asset('')).sort(),
  };
}
