import { readAssetName } from '../../base/assetNames.ts';
import type { AssetUse } from './references.ts';
import { renderedText } from './title.ts';

/** The label that Filechat writes for a file: `Tool generated file 1: quarterly.pdf`. */
export interface GeneratedLabel {
  readonly kind: 'image' | 'audio' | 'file';
  readonly number: number;
  readonly name?: string;
}

const GENERATED = /^(?:Tool|Model) generated (image|audio|file) (\d{1,9})(?:: (\S.*))?$/;

export function readGeneratedLabel(label: string): GeneratedLabel | undefined {
  const [, kind, number, name] = GENERATED.exec(label) ?? [];
  if (kind === undefined) return undefined;
  return { kind: kind as GeneratedLabel['kind'], number: Number(number), ...(name && { name }) };
}

/** What users know a file by: its own name, or else the number of its kind in the result of a tool. */
export type AssetTitle =
  | { readonly kind: 'named'; readonly name: string }
  | { readonly kind: 'numbered'; readonly of: GeneratedLabel; readonly tool?: string };

const MAX_NAME_CHARS = 80;
const FILE_NAME = /[^.\s]\.[A-Za-z0-9]{1,10}$/;

/** `saved` is the name that a client gave when it saved the file. Undefined if only the file name is known. */
export function titleOfAsset(
  fileName: string,
  uses: readonly Pick<AssetUse, 'label' | 'isImage' | 'tool'>[],
  saved?: string,
): AssetTitle | undefined {
  const generated = uses.flatMap(({ label, tool }) => {
    const read = readGeneratedLabel(renderedLabel(label));
    return read ? [{ read, tool }] : [];
  });
  const name = generated.find(({ read }) => read.name)?.read.name ?? saved ?? ownLabel(fileName, uses);
  if (name) return { kind: 'named', name };
  const [first] = generated;
  const read = first?.read ?? readAssetName(fileName);
  if (!read) return undefined;
  const tool = first?.tool ?? uses.find((use) => use.tool !== undefined)?.tool;
  const of = { kind: read.kind, number: read.number };
  return { kind: 'numbered', of, ...(tool !== undefined && { tool }) };
}

/** The description of an image, or a label that is a file name. Others say things like “here”. */
function ownLabel(
  fileName: string,
  uses: readonly Pick<AssetUse, 'label' | 'isImage'>[],
): string | undefined {
  for (const { label, isImage } of uses) {
    const words = renderedLabel(label);
    if (words === '' || words === fileName || readGeneratedLabel(words)) continue;
    if (isImage || FILE_NAME.test(words)) return words;
  }
  return undefined;
}

function renderedLabel(label: string | undefined): string {
  return renderedText(label ?? '', MAX_NAME_CHARS) ?? '';
}
