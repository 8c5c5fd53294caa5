import { posix } from 'node:path';
import { encodeTarget, renderFileLink } from '../../chat/edits/fileLink.ts';

interface Address {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  toString(): string;
}

const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;

/** A link from a chat to a file. Images are embedded unless there is a fragment. */
export function linkToFile(
  chat: Address,
  file: Address,
  { label = file.path.replace(/^.*\//, ''), fragment = '' } = {},
): string {
  const near = chat.scheme === file.scheme && chat.authority === file.authority && chat.scheme !== 'untitled';
  const target = near ? relativeTarget(chat.path, file.path) : file.toString();
  const isImage = fragment === '' && IMAGE.test(file.path);
  return renderFileLink({ label, target: `${target}${fragment}`, isImage });
}

export function relativeTarget(chat: string, file: string): string {
  return encodeTarget(posix.relative(posix.dirname(chat), file));
}

/** The addresses of a `text/uri-list`; lines that begin with `#` are comments. */
export function readUriList(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}

/** The path after `from` was renamed to `to`; undefined if that is neither this path nor a folder above it. */
export function renamedPath(path: string, from: string, to: string): string | undefined {
  return isAtOrBelow(path, from) ? to + path.slice(from.length) : undefined;
}

export function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
