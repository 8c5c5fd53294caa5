/** The server of the tools that are part of Filechat. */
export const BUILT_IN_SERVER = 'filechat';

export const ASSET_FOLDER = 'cmdassets';

export interface AssetNameParts {
  readonly maker?: 'tool' | 'model' | undefined;
  readonly kind: 'image' | 'audio' | 'file';
  readonly time: Date;
  readonly resultId: string;
  readonly number: number;
  /** The last number of the kind in the result, so that names sort in the order of the blocks. */
  readonly last?: number | undefined;
  readonly extension: string;
}

/** `tool-image-20261116-093012-V1StGXR8a0-1.png`, in local time; `-01.png` to `-12.png` if there are twelve. */
export function assetName(parts: AssetNameParts): string {
  const { maker = 'tool', kind, time, resultId, number, last = 1, extension } = parts;
  const two = (value: number) => String(value).padStart(2, '0');
  const date = `${time.getFullYear()}${two(time.getMonth() + 1)}${two(time.getDate())}`;
  const clock = `${two(time.getHours())}${two(time.getMinutes())}${two(time.getSeconds())}`;
  const padded = String(number).padStart(String(last).length, '0');
  return `${maker}-${kind}-${date}-${clock}-${resultId}-${padded}.${extension}`;
}

const ASSET_NAME =
  /^(tool|model)-(image|audio|file)-(\d{8}-\d{6})-[A-Za-z0-9]{8,64}-(?!0+\.)(\d{1,9})\.([a-z0-9]{1,10})$/;

export interface ReadAssetName extends Pick<AssetNameParts, 'kind' | 'number' | 'extension'> {
  readonly maker: 'tool' | 'model';
  /** `20261116-093012` */
  readonly time: string;
}

/** Undefined for any other name: such a file is not an asset, and Filechat never touches it. */
export function readAssetName(name: string): ReadAssetName | undefined {
  const [, maker, kind, time, number, extension] = ASSET_NAME.exec(name) ?? [];
  if (!kind || !time || !extension) return undefined;
  return {
    maker: maker === 'model' ? 'model' : 'tool',
    kind: kind as AssetNameParts['kind'],
    time,
    number: Number(number),
    extension,
  };
}

/** A name without its extension, wherever it is in a text: in a link, a quote, code, or an old path. */
const MENTION = /(?:tool|model)-(?:image|audio|file)-\d{8}-\d{6}-[a-z0-9]+-\d+(?=\.)/gi;

/**
 * The assets among these names that no text mentions. Any mention counts, in whatever case, because some disks ignore
 * case: keeping a file too many costs less than losing one.
 */
export function findUnlinked(texts: Iterable<string>, names: Iterable<string>): string[] {
  const mentioned = new Set<string>();
  for (const text of texts) {
    for (const [mention] of text.matchAll(MENTION)) mentioned.add(mention.toLowerCase());
  }
  const stem = (name: string) => name.slice(0, name.lastIndexOf('.')).toLowerCase();
  return [...names].filter((name) => readAssetName(name) && !mentioned.has(stem(name))).sort();
}

/** A device on Windows, with or without an extension. */
export const DEVICE_NAME = /^(?:con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|con(?:in|out)\$|clock\$) *(?:\.|$)/i;
