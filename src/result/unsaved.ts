import { readAssetName } from '../base/assetNames.ts';
import { defined } from '../base/json.ts';
import { eachLine } from '../base/lines.ts';
import { renderAssetLink } from '../chat/format/assetLink.ts';
import { readMarker } from '../chat/format/chat.ts';
import { FenceReader } from '../chat/format/fence.ts';
import type { TextEdit } from '../ports/document.ts';
import type { AssetKind } from '../ports/results.ts';
import { unescapeProse } from './markdown.ts';

/** A file that could not be saved beside its chat, and was copied to the recovery folder. */
interface UnsavedAsset {
  readonly kind: AssetKind;
  readonly number: number;
  /** The name of the copy, and of the asset once it is saved. */
  readonly name: string;
  /** The name in its link. */
  readonly label?: string | undefined;
  /** The offset of its line in the chat. */
  readonly start: number;
}

/** `file 2 (report.pdf)` */
export function unsavedTitle({ kind, number, label }: Omit<UnsavedAsset, 'name' | 'start'>): string {
  return `${kind} ${number}${label === undefined ? '' : ` (${label})`}`;
}

/** The message of the problem in place of the file. `copy` is the path of the copy, if there is one. */
export function describeUnsaved(what: string, reason: string, copy?: string): string {
  const start = `Could not save ${what} to cmdassets/:`;
  if (copy === undefined) return `${start} ${reason}`;
  return `${start} ${reason.replace(/ and call the tool again(?=\.$)/, '')} It is kept in ${copy} until Retry saves it.`;
}

const UNSAVED =
  /^> ⚠ Could not save (image|audio|file) (\d{1,9})(?: \(([^\r\n]{1,400}?)\))? to cmdassets\/: .*[/\\]((?:tool|model)-[\w-]+\.\w+) until Retry saves it\.(?=\r?$)/gm;

/** Reads only the name of the copy: a path in a chat from elsewhere could lead to any file. */
export function findUnsaved(text: string): readonly UnsavedAsset[] {
  return matchesOutsideCode(text).flatMap(({ 1: kind, 2: number, 3: title, 4: name = '', index: start }) => {
    if (!readAssetName(name)) return [];
    const label = title === undefined ? undefined : unescapeProse(title).replace(/[\][]/g, '');
    return [{ kind: kind as AssetKind, number: Number(number), name, start, ...defined({ label }) }];
  });
}

/** A preview, or the text of a tool, may have such a line too. */
function matchesOutsideCode(text: string): readonly RegExpExecArray[] {
  const matches = new Map([...text.matchAll(UNSAVED)].map((match) => [match.index, match]));
  if (matches.size === 0) return [];
  const fences = new FenceReader();
  return [...eachLine(text)].flatMap(({ text: line, start }) => {
    if (readMarker(line) && !fences.hidesMarkers) fences.reset();
    const match = fences.step(line) === 'outside' ? matches.get(start) : undefined;
    return match ? [match] : [];
  });
}

/** Puts the link in place of the problem. The preview below it then belongs to the link. */
export function linkSaved(text: string, name: string, path: string): TextEdit | undefined {
  const unsaved = findUnsaved(text).find((each) => each.name === name);
  if (!unsaved) return undefined;
  const { start, kind, number, label } = unsaved;
  const line = /.*/.exec(text.slice(start))?.[0].trimEnd() ?? '';
  const about = defined({ maker: readAssetName(name)?.maker, name: label });
  return { start, end: start + line.length, text: renderAssetLink({ kind, number, path, ...about }) };
}
