import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { hasCode } from '../base/errors.ts';
import { describeSize } from '../base/size.ts';
import { isTextType } from '../media/table.ts';
import type { AttachedFile, AttachmentSource, FileReference, FileSource, FoundFile } from '../ports/files.ts';

import {
  explained,
  FileChanged,
  findAsset,
  findFile,
  isInside,
  type LookedAt,
  lookAt,
  readPieces,
  readWhole,
} from './confined.ts';
import { ASSET_FOLDER } from './names.ts';

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
  const size = (each: number) => `${describeSize(each)} (${each} bytes)`;
  return `it has ${size(bytes)}, and filechat.results.maxAssetBytes allows ${size(maxBytes)}`;
}

const UNKNOWN_TYPE = 'application/octet-stream';

/** What no table knows is text if it reads as text: a Makefile, a `.rs`, a `.toml`. */
export function judgeText({ head, size, mimeType }: LookedAt): {
  readonly mimeType: string;
  readonly isText: boolean;
} {
  const claimsText = isTextType(mimeType);
  if (!claimsText && mimeType !== UNKNOWN_TYPE) return { mimeType, isText: false };
  if (decodeText(head, { isCut: size > head.length }) === undefined)
    return { mimeType: UNKNOWN_TYPE, isText: false };
  return { mimeType: claimsText ? mimeType : 'text/plain', isText: true };
}

/** Bytes as text, with every mark that they begin with; nothing where they are no UTF-8 or hold a NUL. */
export function decodeText(bytes: Uint8Array, { isCut = false } = {}): string | undefined {
  try {
    // A character may be cut in two where the bytes end.
    const text = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(bytes, { stream: isCut });
    return text.includes('\0') ? undefined : text;
  } catch {
    return undefined;
  }
}

/** The text of `.filechat/NAME.md` in the first of the folders that has one; links out of it are not followed. */
export async function readAgentFile(name: string, folders: readonly string[]): Promise<string | undefined> {
  for (const folder of folders) {
    try {
      return await readFile(await findFile({ folder, roots: [folder] }, `.filechat/${name}.md`), 'utf8');
    } catch (error) {
      if (!hasCode(error, 'ENOENT', 'ENOTDIR')) throw error;
    }
  }
  return undefined;
}
