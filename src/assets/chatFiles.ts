import { basename, dirname, join, resolve } from 'node:path';
import type { AttachedFile, AttachmentSource } from '../ports.ts';
import { describeSize } from '../result/summary.ts';
import {
  explained,
  FileChanged,
  findAsset,
  findFile,
  isInside,
  type LookedAt,
  lookAt,
  readWhole,
} from './confined.ts';
import { ASSET_FOLDER } from './names.ts';
import { judgeText } from './textFile.ts';

export interface FolderAttachmentsOptions {
  /** The folder of the chat, from which relative targets count. */
  readonly folder: string;
  /** The folder that holds this chat's `cmdassets/`; the chat's own unless it is not saved. */
  readonly assetsIn?: string;
  /** The folders out of which no link leads unless somebody agrees. */
  readonly roots: readonly string[];
  /** Asked once about each file outside, by its real path. Without it, nothing outside is read. */
  readonly mayRead?: (path: string) => Promise<boolean>;
  readonly maxBytes?: number;
}

const MAX_BYTES = 50 * 1024 * 1024;

/** The files that a chat on this machine links to: those that really lie in the folders given. */
export class FolderAttachments implements AttachmentSource {
  readonly #options: FolderAttachmentsOptions;
  readonly #answers = new Map<string, Promise<boolean>>();

  constructor(options: FolderAttachmentsOptions) {
    this.#options = options;
  }

  async find(target: string): Promise<AttachedFile> {
    try {
      const path = await this.#findPath(target);
      const file = await lookAt(path);
      const { maxBytes = MAX_BYTES } = this.#options;
      if (file.size > maxBytes) {
        throw new Error(`it has ${describeSize(file.size)}, and at most ${describeSize(maxBytes)} are sent`);
      }
      const { size } = file;
      const read = (signal?: AbortSignal) => readExplained(path, file, signal);
      return { name: basename(path), size, ...judgeText(file), read };
    } catch (error) {
      throw explained(error);
    }
  }

  /** This chat's own assets are always among what may be read, wherever they are kept. */
  async #findPath(written: string): Promise<string> {
    if (written.includes('\0')) throw new Error('it holds a NUL character');
    // Links to assets that are kept elsewhere begin with a slash on every system.
    const target = process.platform === 'win32' ? written.replace(/^\/(?=[A-Za-z]:)/, '') : written;
    const { folder, assetsIn = folder, roots, mayRead } = this.#options;
    const assets = join(resolve(assetsIn), ASSET_FOLDER);
    const path = resolve(folder, target);
    if (dirname(path) === assets && isInside(assets, path)) return await findAsset(assetsIn, basename(path));
    return await findFile(
      { folder, roots, mayRead: mayRead && ((each) => this.#ask(each, mayRead)) },
      target,
    );
  }

  #ask(path: string, mayRead: (path: string) => Promise<boolean>): Promise<boolean> {
    const answer = this.#answers.get(path) ?? mayRead(path);
    this.#answers.set(path, answer);
    return answer;
  }
}

async function readExplained(path: string, file: LookedAt, signal?: AbortSignal): Promise<Uint8Array> {
  try {
    return await readWhole(path, file, signal);
  } catch (error) {
    throw error instanceof FileChanged ? new Error(`${error.message}. Run again`) : explained(error);
  }
}
