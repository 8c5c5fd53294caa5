import { renderToolName } from '../format/calls.ts';
import { localLinks } from '../format/links.ts';
import { answeredCall } from '../format/nextAction.ts';
import { type Chat, type Turn, turnBody } from '../format/parse.ts';

/** A place in a chat that speaks of a file in an assets folder. */
export interface AssetUse {
  /** The target as the link has it, decoded; of an `asset:` reference, its name within the assets folder. */
  readonly path: string;
  /** In the chat's text. */
  readonly offset: number;
  readonly turn: number;
  readonly tool?: string;
}

const ASSET_FOLDER = 'cmdassets';
const REFERENCE = /\basset:([^\s"'`<>()[\]{},]+)/g;

/** Where a chat speaks of assets, by links and by `asset:` references, in its order. */
export function findAssetUses(text: string, { turns }: Pick<Chat, 'turns'>): readonly AssetUse[] {
  return turns.flatMap((turn, index) => usesOfTurn(text, turn, index + 1));
}

function usesOfTurn(text: string, turn: Turn, number: number): readonly AssetUse[] {
  const body = turnBody(text, turn);
  const about = { turn: number, ...toolOf(turn) };
  const at = (offset: number) => turn.bodyStart + offset;
  const linked = body.includes(ASSET_FOLDER)
    ? localLinks(body).map(({ target, offset }) => ({ path: target, offset: at(offset), ...about }))
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

/** Only a tool's own turn says where a file comes from; others merely speak of it. */
function toolOf(turn: Turn): { readonly tool?: string } {
  if (turn.role !== 'tool') return {};
  const { server, tool } = answeredCall(turn);
  return server !== undefined && tool !== undefined ? { tool: renderToolName({ server, tool }) } : {};
}

/** The use that the cursor is at: the last that begins before it on its line, or else the first there. */
export function useAt(text: string, uses: readonly AssetUse[], offset: number): AssetUse | undefined {
  const start = text.lastIndexOf('\n', offset - 1) + 1;
  const next = text.indexOf('\n', offset);
  const end = next < 0 ? text.length : next;
  const onLine = uses.filter((use) => start <= use.offset && use.offset <= end);
  return onLine.findLast((use) => use.offset <= offset) ?? onLine[0];
}

/** The path that a link from a file in this folder leads to; both are paths of addresses, with forward slashes. */
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
