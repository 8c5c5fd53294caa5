import { visibleLine } from '../base/lines.ts';
import { describeSize } from '../base/size.ts';
import { isTextType, mediaByType } from '../media/table.ts';
import { estimateFile } from '../model/request/estimate.ts';
import type { AssetKind } from '../ports/results.ts';

/**
 * `notes/sales.chat.md`, or `notes/cmdassets` for files that no chat mentions. When several folders are served, it
 * begins with the label of one of them.
 */
export type ChatId = string;

export type Address =
  | { readonly kind: 'chat'; readonly chat: ChatId }
  | { readonly kind: 'asset'; readonly chat: ChatId; readonly asset: string };

interface Listed {
  readonly uri: string;
  readonly chat: ChatId;
  readonly size: number;
  readonly changed: Date;
  readonly mimeType: string;
}

export interface ChatEntry extends Listed {
  readonly kind: 'chat';
  /** From its front matter, its first words or its file name. */
  readonly title: string;
}

export interface AssetEntry extends Listed {
  readonly kind: 'asset';
  /** The name of its file in `cmdassets/`. */
  readonly asset: string;
  readonly assetKind: AssetKind;
  /** What the chat calls it: `quarterly.pdf` of `[Tool generated file 1: quarterly.pdf](…)`. */
  readonly name?: string;
  /** The tool that returned it, as `server.tool`. */
  readonly tool?: string;
}

export type Entry = ChatEntry | AssetEntry;

/** The path is never shown to clients. */
export interface FoundEntry {
  readonly entry: Entry;
  readonly path: string;
}

/** A failure with a message for the client. The message contains no paths. */
export class CatalogRefusal extends Error {}

export interface ReadingCost {
  readonly estimatedTokens: number;
  /** Small enough to read without asking. */
  readonly autoReadSafe: boolean;
  readonly largeFileWarning: boolean;
}

const AUTO_READ_BYTES = 1024 * 1024;
const AUTO_READ_TOKENS = 10_000;

export function readingCost(file: { readonly mimeType: string; readonly size: number }): ReadingCost {
  const estimatedTokens = estimateReading(file);
  const autoReadSafe = file.size <= AUTO_READ_BYTES && estimatedTokens <= AUTO_READ_TOKENS;
  return { estimatedTokens, autoReadSafe, largeFileWarning: !autoReadSafe };
}

export function entryMeta(entry: Pick<Entry, 'mimeType' | 'size' | 'changed'>) {
  const { size, mimeType, changed } = entry;
  return { size, mimeType, lastModified: changed.toISOString(), ...readingCost(entry) };
}

/** “PNG image, 12.3 KB, about 400 tokens. Returned by charts.bar in notes/sales.chat.md.” */
export function describeEntry(entry: Entry): string {
  const { estimatedTokens, largeFileWarning } = readingCost(entry);
  const tokens = `about ${estimatedTokens.toLocaleString('en-US')} tokens`;
  const what = `${entry.kind === 'chat' ? 'Chat' : describeType(entry)}, ${describeSize(entry.size)}`;
  const facts = largeFileWarning ? what : `${what}, ${tokens}`;
  const origin = entry.kind === 'asset' ? ` ${describeOrigin(entry)}` : '';
  const warning = largeFileWarning ? ` Large file: ${tokens}. Read it in windows with read_asset.` : '';
  return `${facts}.${origin}${warning}`;
}

export function entryTitle(entry: ChatEntry | AssetEntry): string {
  return entry.kind === 'chat' ? entry.title : (entry.name ?? entry.asset);
}

const TEXT_BYTES_PER_TOKEN = 4;
/** Base64 tokenizes badly. */
const BASE64_CHARS_PER_TOKEN = 2;

function estimateReading({ mimeType, size }: { readonly mimeType: string; readonly size: number }): number {
  if (isTextType(mimeType)) return Math.ceil(size / TEXT_BYTES_PER_TOKEN);
  if (mimeType.startsWith('image/')) return estimateFile({ mimeType, size });
  return Math.ceil((4 * Math.ceil(size / 3)) / BASE64_CHARS_PER_TOKEN);
}

const NOUNS: readonly (readonly [type: RegExp, noun: string])[] = [
  [/^image\//, 'image'],
  [/^audio\//, 'audio'],
  [/^video\//, 'video'],
  [/^font\//, 'font'],
  [/^text\/(?:plain|markdown)$/, 'text'],
  [/^application\/pdf$/, 'document'],
];

function describeType({ mimeType }: AssetEntry): string {
  const extension = mediaByType(mimeType)?.extension.toUpperCase();
  if (extension === undefined) return 'File of an unknown type';
  const noun = NOUNS.find(([type]) => type.test(mimeType))?.[1] ?? 'file';
  return `${extension} ${noun}`;
}

/** Paths and tool names are untrusted text. */
function describeOrigin({ chat, tool }: AssetEntry): string {
  const place = visibleLine(chat);
  if (!chat.endsWith('.chat.md')) return `In ${place}; no chat mentions it.`;
  return tool === undefined ? `Of ${place}.` : `Returned by ${visibleLine(tool)} in ${place}.`;
}
