import { ASSET_FOLDER } from '../../base/assetNames.ts';
import { endOfLine, startOfLine } from '../../base/lines.ts';
import type { ToolName } from '../../ports/tools.ts';
import { readToolName, renderToolName } from '../format/callInfo.ts';
import type { Chat, Turn } from '../format/chat.ts';
import { findLinks, localLinks } from '../format/links.ts';
import { answeredCall } from '../format/nextAction.ts';
import { turnAt, turnBody } from '../format/parse.ts';
import type { Region } from '../format/textEdit.ts';

/** A reference at an offset, with its range. */
export type ChatReference = Region &
  (
    | { readonly kind: 'tool'; readonly tool: ToolName }
    /** A pattern in the front matter, such as `charts.*`. */
    | { readonly kind: 'toolPattern'; readonly pattern: string }
    | { readonly kind: 'file'; readonly target: string }
  );

/** The tool name or file link at an offset. Reads at most one turn. */
export function referenceAt(text: string, chat: Chat, offset: number): ChatReference | undefined {
  const front = chat.frontMatterStart ?? 0;
  if (chat.frontMatter !== undefined && offset < front + chat.frontMatter.length) {
    return patternAt(chat.frontMatter, front, offset);
  }
  const turn = turnAt(chat, offset);
  if (!turn) return undefined;
  return toolAt(text, turn, offset) ?? fileAt(text, turn, offset);
}

function fileAt(text: string, turn: Turn, offset: number): ChatReference | undefined {
  if (offset < turn.bodyStart) return undefined;
  const at = offset - turn.bodyStart;
  // An image may be inside a link; the later one is the inner one.
  const link = findLinks(turnBody(text, turn)).findLast((each) => each.offset <= at && at < each.end);
  if (link?.local === undefined) return undefined;
  return {
    kind: 'file',
    target: link.local,
    start: turn.bodyStart + link.offset,
    end: turn.bodyStart + link.end,
  };
}

/** On the first line of a call, or on the marker of a result. */
function toolAt(text: string, turn: Turn, offset: number): ChatReference | undefined {
  const isMarker = turn.role === 'tool' && offset < turn.bodyStart;
  const call = turn.calls.find(({ start, infoEnd }) => start <= offset && offset <= infoEnd);
  const line = isMarker ? turn : call;
  if (!line) return undefined;
  const end = isMarker ? turn.bodyStart : (call?.infoEnd ?? 0);
  const word = wordAt(text.slice(line.start, end), offset - line.start, /\S+/g);
  const tool = word && readToolName(word.text);
  return tool && { kind: 'tool', tool, start: line.start + word.start, end: line.start + word.end };
}

const ITEM = /[^\s,[\]"']+/g;

/** A word in the value of `tools:`, on its line or in the list below it. */
function patternAt(yaml: string, start: number, offset: number): ChatReference | undefined {
  const at = offset - start;
  const keys = [...yaml.matchAll(/^([A-Za-z]\w*):/gm)];
  const key = keys.findLast(({ index }) => index <= at);
  if (key?.[1] !== 'tools' || at < key.index + key[0].length) return undefined;
  const lineStart = startOfLine(yaml, at);
  const line = yaml.slice(lineStart, endOfLine(yaml, lineStart));
  const word = wordAt(line.replace(/(?:^|\s)#.*$/s, ''), at - lineStart, ITEM);
  if (!word || word.text === '-' || word.text === 'tools:') return undefined;
  const place = { start: start + lineStart + word.start, end: start + lineStart + word.end };
  const tool = word.text.includes('*') ? undefined : readToolName(word.text);
  return tool ? { kind: 'tool', tool, ...place } : { kind: 'toolPattern', pattern: word.text, ...place };
}

function wordAt(line: string, at: number, pattern: RegExp) {
  for (const match of line.matchAll(pattern)) {
    const end = match.index + match[0].length;
    if (match.index <= at && at <= end) return { text: match[0], start: match.index, end };
  }
  return undefined;
}

/** A reference to a file in an assets folder. */
export interface AssetUse {
  /** The decoded link target, or for an `asset:` reference its path in the assets folder. */
  readonly path: string;
  readonly offset: number;
  readonly turn: number;
  readonly tool?: string;
  /** The label of a link, as written. */
  readonly label?: string;
  readonly isImage?: boolean;
}

const REFERENCE = /\basset:([^\s"'`<>()[\]{},]+)/g;

/** All links and `asset:` references to assets, in order. */
export function findAssetUses(text: string, { turns }: Pick<Chat, 'turns'>): readonly AssetUse[] {
  return turns.flatMap((turn, index) => usesOfTurn(text, turn, index + 1));
}

function usesOfTurn(text: string, turn: Turn, number: number): readonly AssetUse[] {
  const body = turnBody(text, turn);
  const about = { turn: number, ...toolOf(turn) };
  const at = (offset: number) => turn.bodyStart + offset;
  const linked = body.includes(ASSET_FOLDER)
    ? localLinks(body).map(({ target, start, label, isImage }) => ({
        path: target,
        offset: at(start),
        label,
        isImage,
        ...about,
      }))
    : [];
  const referred = body.includes('asset:')
    ? [...body.matchAll(REFERENCE)].map(({ 1: name = '', index }) => ({
        path: `${ASSET_FOLDER}/${name}`,
        offset: at(index),
        ...about,
      }))
    : [];
  return [...linked, ...referred].sort((a, b) => a.offset - b.offset);
}

/** Only a result says which tool created a file; other turns merely mention it. */
function toolOf(turn: Turn): { readonly tool?: string } {
  if (turn.role !== 'tool') return {};
  const { server, tool } = answeredCall(turn);
  return server !== undefined && tool !== undefined ? { tool: renderToolName({ server, tool }) } : {};
}

/** The last use that begins before the cursor on its line, otherwise the first one there. */
export function useAt(text: string, uses: readonly AssetUse[], offset: number): AssetUse | undefined {
  const start = startOfLine(text, offset);
  const end = endOfLine(text, offset);
  const onLine = uses.filter((use) => start <= use.offset && use.offset <= end);
  return onLine.findLast((use) => use.offset <= offset) ?? onLine[0];
}

/** Resolves a link target against a folder; both are URL paths with forward slashes. */
export function resolvePath(folder: string, target: string): string {
  const path = target.replaceAll('\\', '/').replace(/^[A-Z](?=:\/)/, (drive) => drive.toLowerCase());
  const whole = /^(?:\/|[A-Za-z]:\/)/.test(path) ? path : `${folder}/${path}`;
  const segments: string[] = [];
  for (const segment of whole.split('/')) {
    if (segment === '..') segments.pop();
    else if (segment !== '.' && segment !== '') segments.push(segment);
  }
  return `/${segments.join('/')}`;
}
