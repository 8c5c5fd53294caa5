import { visibleLine } from '../../base/lines.ts';
import { describeSize } from '../../base/size.ts';
import { MAX_SUMMARY_TOKENS, tokensAtMost } from '../../result/modelView.ts';
import type { ListedAsset, ListOutput, ReadOutput, SaveOutput, SearchOutput } from './specs.ts';

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
    ...(nextCursor === undefined ? [] : [`There are more. The next page has cursor: ${nextCursor}`]),
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

export function readText(window: ReadOutput): string {
  const { mimeType, totalBytes, start, byteCount, nextStart } = window;
  const name = `${visibleLine(window.name)} (${mimeType}, ${totalBytes} bytes)`;
  if (byteCount === 0) return `Nothing is at byte ${start} of ${name}: it ends there.`;
  const which =
    byteCount === totalBytes ? `All of ${name}.` : `Bytes ${start} to ${start + byteCount - 1} of ${name}.`;
  return nextStart === undefined ? which : `${which} There is more: read on with start ${nextStart}.`;
}

export function searchText({ hits, more }: SearchOutput): string {
  if (hits.length === 0) return 'No turn of these chats has all the words.';
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
  const { name, asset, mimeType, size, uri, markdown } = saved;
  return [
    `Saved ${visibleLine(name)} (${mimeType}, ${describeSize(size)}) as asset:${asset}`,
    `Address: ${uri}`,
    `Link for the chat: ${markdown}`,
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
  const size = describeSize(asset.size);
  const tokens = `~${asset.estimatedTokens} tokens`;
  const tool = asset.tool === undefined ? [] : [asset.tool];
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
