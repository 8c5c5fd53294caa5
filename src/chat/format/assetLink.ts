import type { Asset, AssetKind, AssetMaker } from '../../ports/results.ts';
import { decodePercent } from './escapeMarkers.ts';

const MAKERS: Readonly<Record<AssetMaker, string>> = { tool: 'Tool', model: 'Model' };

/** `![Tool generated image 1](cmdassets/…)`, a line of its own. */
export function renderAssetLink({ kind, maker = 'tool', number, path, name }: Asset): string {
  const label = `${MAKERS[maker]} generated ${kind} ${number}${name === undefined ? '' : `: ${name}`}`;
  const target = path.replace(/[^\w\-./:~@+,=]/gu, (character) =>
    character === '(' ? '%28' : character === ')' ? '%29' : encodeURIComponent(character),
  );
  return `${kind === 'image' ? '!' : ''}[${label}](${target})`;
}

/** Longer lines are text. */
export const MAX_ASSET_LINK_CHARS = 1000;

/** One of its own for each maker: a tool cannot pretend that a model made its file. */
const ASSETS: Readonly<Record<AssetMaker, RegExp>> = { tool: linkOf('tool'), model: linkOf('model') };

function linkOf(maker: AssetMaker): RegExp {
  return new RegExp(
    String.raw`^(!?)\[${MAKERS[maker]} generated (image|audio|file) (\d+)(?:: ([^\][]+))?\]\(([^()\s]*\/${maker}-[^()\s]+)\)$`,
  );
}

export function readAssetLink(line: string, maker: AssetMaker): Asset | undefined {
  const match = ASSETS[maker].exec(line);
  if (!match || (maker === 'model' && line.length > MAX_ASSET_LINK_CHARS)) return undefined;
  const [, bang, kind, number, name, target = ''] = match;
  if ((bang === '!') !== (kind === 'image')) return undefined;
  const asset = { kind: kind as AssetKind, number: Number(number), path: decodePercent(target) };
  return {
    ...asset,
    ...(maker === 'model' && { maker }),
    ...(name !== undefined && { name }),
  };
}
