import { fileTypeFromBuffer } from 'file-type';
import { type MediaType, mediaByExtension, mediaByType, UNKNOWN } from './mediaTable.ts';

export interface MediaClues {
  readonly bytes: Uint8Array;
  /** What the server says that it is. */
  readonly declared?: string | undefined;
  readonly uri?: string | undefined;
  /** The type of the block that it came in. */
  readonly block: 'image' | 'audio' | 'file';
}

/** What bytes are: their magic numbers first, then the declared type, then the name in the URI. */
export async function judgeMediaType(clues: MediaClues): Promise<MediaType> {
  const declared = readDeclared(clues.declared);
  const sniffed = (await sniffBinary(clues.bytes)) ?? sniffMarkup(clues.bytes);
  if (sniffed && isPageInDisguise(sniffed, clues, declared.type)) return UNKNOWN;
  if (sniffed) return withDeclaredSound(sniffed, declared.type);
  return declared.known ?? byUri(clues.uri) ?? seedDefault(clues, declared.type) ?? UNKNOWN;
}

/** Long enough for the head of every format, including an SVG behind a licence comment. */
const MARKUP_HEAD_BYTES = 4096;
const TYPE = /^[a-z]+\/[a-z0-9][a-z0-9.+_-]{0,126}$/;
const MAX_TYPE_CHARS = 200;

/** The type without its parameters, and what the table knows of it. Octets are no claim at all. */
function readDeclared(declared: string | undefined): { readonly type?: string; readonly known?: MediaType } {
  const type = declared?.slice(0, MAX_TYPE_CHARS).split(';')[0]?.trim().toLowerCase();
  if (!type || !TYPE.test(type) || type === 'application/octet-stream') return {};
  const known = mediaByType(type);
  return known ? { type, known } : { type };
}

async function sniffBinary(bytes: Uint8Array): Promise<MediaType | undefined> {
  // The library rejects when a file ends in the middle of its head; such bytes are of no known type.
  const found = await fileTypeFromBuffer(bytes).catch(() => undefined);
  if (!found) return undefined;
  // A generic XML head says less than the declared type.
  if (found.ext === 'xml') return undefined;
  return mediaByExtension(found.ext) ?? mediaByType(found.mime) ?? UNKNOWN;
}

/** SVG and HTML have no magic numbers, and both can run scripts: they must not pass as a picture. */
function sniffMarkup(bytes: Uint8Array): MediaType | undefined {
  const head = new TextDecoder().decode(bytes.subarray(0, MARKUP_HEAD_BYTES)).trimStart();
  if (!head.startsWith('<')) return undefined;
  const element = head.replace(/<\?[\s\S]*?\?>|<!--[\s\S]*?-->/g, '').trimStart();
  if (/^(<!doctype\s+svg|<svg[\s>])/i.test(element)) return mediaByExtension('svg');
  if (/^(<!doctype\s+html|<(html|head|body|script)[\s>])/i.test(element)) return mediaByExtension('html');
  return undefined;
}

/** A web page that calls itself a picture gets no name under which a browser would run it. */
function isPageInDisguise(sniffed: MediaType, clues: MediaClues, declared: string | undefined): boolean {
  return sniffed.extension === 'html' && (clues.block !== 'file' || declared?.startsWith('image/') === true);
}

/** Some containers hold sound or film alike; there the declared type knows better. */
const SOUND_IN: Readonly<Record<string, string>> = { webm: 'weba', mp4: 'm4a', ogv: 'ogg', mkv: 'weba' };

function withDeclaredSound(sniffed: MediaType, declared: string | undefined): MediaType {
  if (!declared?.startsWith('audio/')) return sniffed;
  const extension = SOUND_IN[sniffed.extension];
  return (extension && mediaByExtension(extension)) || sniffed;
}

function byUri(uri: string | undefined): MediaType | undefined {
  const extension = /\.([A-Za-z0-9]{1,8})(?:[?#].*)?$/.exec(uri?.slice(-300) ?? '')?.[1];
  return extension === undefined ? undefined : mediaByExtension(extension);
}

/** A picture of a type that nobody knows is saved as PNG, unless something speaks against it. */
function seedDefault(clues: MediaClues, declared: string | undefined): MediaType | undefined {
  const claimed = declared?.startsWith('image/') ?? clues.declared === undefined;
  return clues.block === 'image' && claimed ? mediaByExtension('png') : undefined;
}
