import { posix } from 'node:path';

export interface FileLink {
  readonly label: string;
  /** A path or an address, not encoded. */
  readonly target: string;
  readonly isImage: boolean;
}

/** A Markdown link to a file that means this file and nothing else, whatever its name is. */
export function renderFileLink({ label, target, isImage }: FileLink): string {
  return `${isImage ? '!' : ''}[${renderLabel(label)}](${target})`;
}

/** As far as an address tells where a file is. */
interface Address {
  readonly scheme: string;
  readonly authority: string;
  readonly path: string;
  toString(): string;
}

const IMAGE = /\.(?:png|jpe?g|gif|webp)$/i;

/** From a chat to a file, or to some of its lines. Pictures are shown, unless a part of one is meant. */
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

const MAX_LABEL_CHARS = 100;

function renderLabel(label: string): string {
  const line = label
    .normalize('NFC')
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  const cut = Array.from(line).slice(0, MAX_LABEL_CHARS).join('');
  return cut.replace(/[\\`*_[\]<>!&$]/g, '\\$&') || 'file';
}

/** From the chat to the file, as the target of a link; both are paths of URIs. */
export function relativeTarget(chat: string, file: string): string {
  return encodeTarget(posix.relative(posix.dirname(chat), file));
}

/** Letters of any language stay readable; whatever means something in Markdown or in an address does not stay. */
export function encodeTarget(path: string): string {
  return path.toWellFormed().replace(/[^\p{L}\p{N}\-._~/@+,=]/gu, encodeSign);
}

/** The language's own function leaves brackets, quotes and some other signs alone. */
function encodeSign(character: string): string {
  const encoded = encodeURIComponent(character);
  return encoded === character ? `%${character.charCodeAt(0).toString(16).toUpperCase()}` : encoded;
}

/** The addresses of a `text/uri-list`; lines that begin with `#` are comments. */
export function readUriList(text: string): readonly string[] {
  return text
    .split(/\r?\n/)
    .map((line) => line.trim())
    .filter((line) => line !== '' && !line.startsWith('#'));
}
