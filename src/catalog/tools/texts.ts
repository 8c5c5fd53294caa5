import { TimeSlice } from '../../base/async.ts';
import { defined } from '../../base/json.ts';
import { visibleLine } from '../../base/lines.ts';
import { describeSize } from '../../base/size.ts';
import type { Asset, ResultPart, TextPart } from '../../ports/results.ts';
import { cleanText } from '../../result/blocks.ts';
import { findBase64Runs, isMixed } from '../../result/findBase64.ts';
import { MAX_SUMMARY_TOKENS, tokensAtMost } from '../../result/modelView.ts';
import type { FileContents } from '../contents.ts';
import { type AssetEntry, type Entry, entryTitle, type ReadThresholds, readingCost } from '../entry.ts';
import type { AssetPage } from '../listAssets.ts';
import type { SavedUpload } from '../save.ts';
import type { ListedAsset, ListOutput, ReadOutput, SaveOutput, SearchOutput } from '../toolSpecs.ts';
import type { FileWindow } from '../windows.ts';

export function listText(
  { assets, total, nextCursor, notes = [] }: ListOutput,
  referenceTo: (asset: ListedAsset) => string = byNameAmong(assets),
): string {
  return [
    countWords(assets.length, total),
    ...assets.flatMap((each, at) => [
      ...(each.chat === assets[at - 1]?.chat ? [] : [`In ${visibleLine(each.chat)}:`]),
      assetLine(each, referenceTo(each)),
    ]),
    ...(nextCursor === undefined ? [] : [`There are more. For the next page, pass cursor: ${nextCursor}`]),
    ...notes.map((note) => `Note: ${visibleLine(note)}`),
  ].join('\n');
}

/** Refers to an asset by name unless the name is ambiguous. */
function byNameAmong(assets: readonly ListedAsset[]): (asset: ListedAsset) => string {
  const seen = new Set<string>();
  const twice = new Set<string>();
  for (const { asset } of assets) (seen.has(asset) ? twice : seen).add(asset);
  return ({ asset, uri }) => (twice.has(asset) ? uri : `asset:${asset}`);
}

export function readText(
  window: ReadOutput,
  document: { pages?: string | undefined; cut?: string | undefined } = {},
): string {
  const { pages, cut } = document;
  const { mimeType, totalBytes, start, byteCount, nextStart, documentType } = window;
  const facts = [documentType ?? mimeType, ...(pages === undefined ? [] : [pages]), `${totalBytes} bytes`];
  const what = documentType === undefined ? '' : 'the text of ';
  const name = `${what}${visibleLine(window.name)} (${facts.join(', ')})`;
  if (window.content === 'none')
    return `${name} is too large to be returned whole. Read it in windows with start: 0, then with each nextStart, or open the file.`;
  if (byteCount === 0) return `There is nothing at byte ${start} of ${name}: the file ends there.`;
  const which =
    byteCount === totalBytes
      ? `${cut === undefined ? 'All' : 'A part'} of ${name}.`
      : `Bytes ${start} to ${start + byteCount - 1} of ${name}.`;
  if (nextStart === undefined) return cut === undefined ? which : `${which} ${cut}`;
  return `${which} There is more: continue with start ${nextStart}.`;
}

export function searchText({ hits, more }: SearchOutput): string {
  if (hits.length === 0) return 'No turn in these chats contains all the words.';
  const lines: string[] = [];
  let chat: string | undefined;
  for (const { uri, title, role, line, start, snippet } of hits) {
    if (uri !== chat) lines.push(`${visibleLine(title)}: ${uri}`);
    chat = uri;
    lines.push(
      `- line ${line}, start ${start}${role ? `, ${role}: ${visibleLine(snippet)}` : ': the title'}`,
    );
  }
  if (more) lines.push('There are more. Use more words, or a higher limit.');
  return lines.join('\n');
}

export function saveText(saved: SaveOutput): string {
  const { name, asset, mimeType, size, uri, markdown, notes = [] } = saved;
  return [
    `Saved ${visibleLine(name)} (${mimeType}, ${describeSize(size)}) as asset:${asset}`,
    `Address: ${uri}`,
    `Link for the chat: ${markdown}`,
    ...notes.map((note) => `Note: ${note}`),
  ].join('\n');
}

function countWords(shown: number, total: number): string {
  if (total === 0) return 'No matching assets.';
  const noun = total === 1 ? 'asset' : 'assets';
  return shown === total ? `${total} ${noun}:` : `${shown} of ${total} ${noun}:`;
}

/** Drops facts, then shortens the name, until the line is short enough. The reference is never cut. */
function assetLine(asset: ListedAsset, reference: string): string {
  const { mimeType } = asset;
  const size = `${describeSize(asset.size)}${asset.largeFileWarning ? ', large' : ''}`;
  const tokens = `~${asset.estimatedTokens} tokens`;
  const source = asset.tool ?? (asset.savedBy === undefined ? undefined : `saved by ${asset.savedBy}`);
  const tool = source === undefined ? [] : [source];
  const facts = [
    [mimeType, size, tokens, ...tool],
    [size, tokens, ...tool],
    [mimeType, size, tokens],
    [size, tokens],
  ];
  const name = visibleLine(asset.name === asset.asset ? asset.kind : asset.name);
  const line = (said: string, about: readonly string[]) =>
    `- ${said} (${visibleLine(about.join(', '))}): ${reference}`;
  const whole = facts.map((about) => line(name, about)).find(isShort);
  return whole ?? cutName(name, (said) => line(said, [size]));
}

function cutName(name: string, line: (said: string) => string): string {
  const letters = Array.from(name);
  for (let kept = Math.min(letters.length, MAX_SUMMARY_TOKENS); kept > 0; kept -= 1) {
    const cut = line(kept < letters.length ? `${letters.slice(0, kept).join('')}…` : name);
    if (isShort(cut)) return cut;
  }
  return line('…');
}

function isShort(line: string): boolean {
  return tokensAtMost(line) <= MAX_SUMMARY_TOKENS;
}

export interface ShownWindow {
  /** `asset:NAME` or an address. */
  readonly reference: string;
  readonly about: string;
  readonly window: FileWindow;
  /** An image or audio beside the chat. */
  readonly asset?: Asset | undefined;
  readonly isForeign?: boolean | undefined;
}

/** Returns parts without base64, so that nothing in them is saved as a new asset. */
export async function windowParts(shown: ShownWindow): Promise<readonly ResultPart[]> {
  const { reference, about, window, asset, isForeign } = shown;
  const { body, mimeType, start, totalBytes } = window;
  if (asset) return [textPart(`${mimeType}, ${describeSize(totalBytes)}.`), { kind: 'asset', asset }];
  if (isForeign) return [textPart(`${mimeType}, ${describeSize(totalBytes)}. ${FOREIGN}`)];
  if (body.kind === 'text') {
    const { kept, isCut } = await withoutBase64(cleanText(body.text));
    const said = isCut ? `${about} ${BASE64_LEFT_OUT}` : about;
    return [textPart(said), { kind: 'text', text: kept, source: { uri: reference, mimeType } }];
  }
  const hint = reference.startsWith('asset:') ? ` ${handOver(reference)}` : '';
  const view = hexView(body.bytes, start);
  return view === '' ? [textPart(about)] : [textPart(`${about}${hint}`), textPart(view)];
}

const FOREIGN =
  'This file is in another folder, so it cannot be shown here. Use as: "bytes" to get its bytes.';
const BASE64_LEFT_OUT = 'Base64 in it is omitted. Use as: "bytes" to get all bytes.';

function handOver(reference: string): string {
  return `To give the file to a tool, write ${reference} as the argument.`;
}

/** Longer than any name, number or checksum. */
const MIN_BASE64_CHARS = 240;

/** Base64 is useless to a model and costs many tokens. */
async function withoutBase64(value: string): Promise<{ readonly kept: string; readonly isCut: boolean }> {
  const pieces: string[] = [];
  let from = 0;
  for await (const { start, end, length, pieces: digits } of findBase64Runs(value, new TimeSlice())) {
    if (length < MIN_BASE64_CHARS || !isMixed(digits.join(''))) continue;
    pieces.push(value.slice(from, start), `[${end - start} characters of base64]`);
    from = end;
  }
  return { kept: `${pieces.join('')}${value.slice(from)}`, isCut: from > 0 };
}

export function textPart(text: string): TextPart {
  return { kind: 'text', text };
}

const BYTES_PER_LINE = 16;
const HALF = BYTES_PER_LINE / 2;
/** Enough for 4 GiB. */
const OFFSET_DIGITS = 8;

/** Offset, hexadecimal digits and ASCII, as hex editors show them. */
export function hexView(bytes: Uint8Array, start: number): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += BYTES_PER_LINE) {
    lines.push(line(bytes.subarray(at, at + BYTES_PER_LINE), start + at));
  }
  return lines.join('\n');
}

function line(bytes: Uint8Array, offset: number): string {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  const halves = [digits.slice(0, HALF), digits.slice(HALF)].map((half) => half.join(' '));
  const width = 3 * BYTES_PER_LINE;
  const shown = offset.toString(16).padStart(OFFSET_DIGITS, '0');
  return `${shown}  ${halves.join('  ').padEnd(width)}  |${letters(bytes)}|`;
}

function letters(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join(
    '',
  );
}

function listedAsset(entry: AssetEntry, thresholds?: ReadThresholds): ListedAsset {
  return {
    uri: entry.uri,
    name: entryTitle(entry),
    asset: entry.asset,
    chat: entry.chat,
    kind: entry.assetKind,
    mimeType: entry.mimeType,
    size: entry.size,
    lastModified: entry.changed.toISOString(),
    ...readingCost(entry, thresholds),
    ...defined({ tool: entry.tool, savedBy: entry.savedBy }),
  };
}

export function listOutput(
  { assets, total, nextCursor, notes }: AssetPage,
  thresholds?: ReadThresholds,
): ListOutput {
  return {
    assets: assets.map((entry) => listedAsset(entry, thresholds)),
    total,
    ...(nextCursor === undefined ? {} : { nextCursor }),
    ...(notes.length === 0 ? {} : { notes: [...notes] }),
  };
}

/** The cost is that of the whole file. */
export function readOutput(entry: Entry, window: FileContents, thresholds?: ReadThresholds): ReadOutput {
  const { mimeType, totalBytes, start, byteCount, nextStart, body, document } = window;
  return {
    uri: entry.uri,
    name: entryTitle(entry),
    mimeType,
    content: body.kind,
    totalBytes,
    ...defined({ documentType: document?.mimeType, pageCount: document?.pageCount }),
    start,
    byteCount,
    ...(nextStart === undefined ? {} : { nextStart }),
    lastModified: entry.changed.toISOString(),
    ...readingCost({ mimeType, size: totalBytes }, thresholds),
  };
}

export function saveOutput({ entry, markdown, notes }: SavedUpload, thresholds?: ReadThresholds): SaveOutput {
  return { ...listedAsset(entry, thresholds), markdown, ...(notes && { notes: [...notes] }) };
}
