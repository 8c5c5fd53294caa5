import { ASSET_FOLDER, readAssetName } from '../../base/assetNames.ts';
import type { TextEdit } from '../../ports/document.ts';
import { findHidden } from '../format/comments.ts';
import { localTarget, readDestination } from '../format/links.ts';
import { parseChat } from '../format/parse.ts';
import { isWithin, type Region, shiftRegions } from '../format/textEdit.ts';
import { resolvePath } from '../outline/references.ts';

interface AssetLink extends Region {
  readonly name: string;
  readonly fragment: string;
}

/** The assets of a folder outside of the chat's own that a text links to. */
export function assetsLinkedIn(text: string, folder: string): readonly string[] {
  return [...new Set(linksInto(text, folder).map(({ name }) => name))];
}

/** Points links to assets in `folder` to the assets of the same names beside the chat. */
export function relinkAssets(text: string, folder: string, moved: ReadonlySet<string>): readonly TextEdit[] {
  return linksInto(text, folder)
    .filter(({ name }) => moved.has(name))
    .map(({ start, end, name, fragment }) => ({ start, end, text: `${ASSET_FOLDER}/${name}${fragment}` }));
}

/** Before the target of a link, an image or a definition. */
const BEFORE_TARGET = /\](?:\([ \t]*|:[ \t]*(?:\r?\n[ \t]*)?)/g;

function linksInto(text: string, folder: string): readonly AssetLink[] {
  const prefix = `${resolvePath('', folder)}/`;
  let lastEnd = 0;
  const links = [...text.matchAll(BEFORE_TARGET)].flatMap(({ 0: before, index }) => {
    const start = index + before.length;
    // In another target, which may reach to the end of the text and have thousands of these signs.
    if (start < lastEnd) return [];
    const { target, end } = readDestination(text, start) ?? { target: '', end: start };
    lastEnd = end;
    const local = localTarget(target);
    const path = local === undefined || !/^(?:\/|[A-Za-z]:)/.test(local) ? '' : resolvePath('', local);
    const name = path.slice(prefix.length);
    if (!path.startsWith(prefix) || !readAssetName(name)) return [];
    return [{ start, end, name, fragment: /#[\w.,=&%-]*$/.exec(target)?.[0] ?? '' }];
  });
  // Most chats have no such link, and need not be parsed.
  const code = links.length === 0 ? [] : findCode(text);
  return links.filter(({ start }) => !isWithin(code, start));
}

/** A fence ends with its turn. */
function findCode(text: string): readonly Region[] {
  const starts = parseChat(text).turns.map(({ bodyStart }) => bodyStart);
  return [0, ...starts].flatMap((start, at) =>
    shiftRegions(findHidden(text.slice(start, starts[at] ?? text.length)).code, start),
  );
}
