import { basename } from 'node:path';
import type { FileReference, FileSource, FoundFile } from '../ports.ts';
import {
  explained,
  FileChanged,
  findAsset,
  findFile,
  type LookedAt,
  lookAt,
  readPieces,
} from './confined.ts';

export interface FolderFilesOptions {
  /** The folder of the chat, from which relative paths count. */
  readonly folder: string;
  /** The folder that holds this chat's `cmdassets/`; the chat's own unless it is not saved. */
  readonly assetsIn?: string;
  /** The folders out of which no `file:` leads. Without one, `file:` reaches nothing. */
  readonly roots: readonly string[];
  /** Asked at every use, so that a change of the settings counts at once. */
  readonly limits: () => FileLimits;
}

export interface FileLimits {
  /** The most that is sent of one file; a path alone may lead to more. */
  readonly maxAssetBytes: number;
  /** `image/*`, `application/pdf`; all when it is left out. */
  readonly allowedMimeTypes?: readonly string[];
}

/** The files that arguments may name: this chat's assets, and what really lies in the folders given. */
export class FolderFiles implements FileSource {
  readonly #options: FolderFilesOptions;

  constructor(options: FolderFilesOptions) {
    this.#options = options;
  }

  async find(reference: FileReference, wanted: 'bytes' | 'path'): Promise<FoundFile> {
    try {
      const path = await (reference.kind === 'asset'
        ? findAsset(this.#options.assetsIn ?? this.#options.folder, reference.name)
        : findFile(this.#options, reference.path));
      return await this.#look(path, wanted);
    } catch (error) {
      throw withAdvice(explained(error));
    }
  }

  async #look(path: string, wanted: 'bytes' | 'path'): Promise<FoundFile> {
    const { maxAssetBytes, allowedMimeTypes = ['*/*'] } = this.#options.limits();
    const file = await lookAt(path);
    const { size, mimeType } = file;
    if (!isAllowedType(mimeType, allowedMimeTypes)) {
      throw new Error(
        `it is ${mimeType}, and filechat.results.allowedMimeTypes allows ${allowedMimeTypes.join(', ') || 'nothing'}`,
      );
    }
    if (wanted === 'bytes' && size > maxAssetBytes) throw new Error(tooLarge(size, maxAssetBytes));
    return { name: basename(path), path, size, mimeType, read: (signal) => readBase64(path, file, signal) };
  }
}

/** Whether one of the patterns, such as `image/*` or `text/csv`, is about the type. */
export function isAllowedType(type: string, patterns: readonly string[]): boolean {
  const [group = ''] = type.toLowerCase().split('/');
  return patterns
    .map((pattern) => pattern.trim().toLowerCase())
    .some((each) => each === '*/*' || each === '*' || each === `${group}/*` || each === type.toLowerCase());
}

/** The bytes are never in memory beside their base64. */
async function readBase64(path: string, file: LookedAt, signal: AbortSignal | undefined): Promise<string> {
  let base64 = '';
  const add = (piece: Buffer) => {
    base64 += piece.toString('base64');
  };
  try {
    await readPieces(path, file, add, signal);
    return base64;
  } catch (error) {
    throw withAdvice(explained(error));
  }
}

function withAdvice(error: unknown): unknown {
  return error instanceof FileChanged ? new Error(`${error.message}. Call the tool again`) : error;
}

function tooLarge(bytes: number, maxBytes: number): string {
  const size = (each: number) => `${(each / 1024 / 1024).toFixed(1)} MiB (${each} bytes)`;
  return `it has ${size(bytes)}, and filechat.results.maxAssetBytes allows ${size(maxBytes)}`;
}
