const MAX_PATH_CHARS = 400;

/** The best matches first. A match contains all typed letters in order. */
export function rankPaths(paths: readonly string[], typed: string, limit: number): readonly string[] {
  const wanted = typed.toLowerCase();
  const rated = paths.flatMap((path) => {
    const rate = ratePath(path.slice(-MAX_PATH_CHARS).toLowerCase(), wanted);
    return rate === undefined ? [] : [{ path, rate }];
  });
  return rated
    .sort((a, b) => a.rate - b.rate || a.path.length - b.path.length || (a.path < b.path ? -1 : 1))
    .slice(0, limit)
    .map(({ path }) => path);
}

/** Lower is better. */
function ratePath(path: string, wanted: string): number | undefined {
  const name = path.slice(path.lastIndexOf('/') + 1);
  if (name.startsWith(wanted)) return 0;
  if (name.includes(wanted)) return 1;
  if (path.startsWith(wanted)) return 2;
  if (path.includes(wanted)) return 3;
  if (isScattered(name, wanted)) return 4;
  return isScattered(path, wanted) ? 5 : undefined;
}

function isScattered(text: string, wanted: string): boolean {
  let at = 0;
  for (const letter of wanted) {
    at = text.indexOf(letter, at) + 1;
    if (at === 0) return false;
  }
  return true;
}

const OPEN_STRING = /[:[,]\s*"([\w.:-]{0,200})$/;
/** Enough for a name and the text before it. */
const LOOKED_AT_CHARS = 300;

/** A string at the cursor that is, or may become, an asset reference. `typed` is the part before the cursor. */
export function assetReferenceAt(json: string, offset: number) {
  const typed = OPEN_STRING.exec(json.slice(Math.max(0, offset - LOOKED_AT_CHARS), offset))?.[1];
  if (typed === undefined || !(typed.startsWith('asset:') || 'asset:'.startsWith(typed))) return undefined;
  const rest = /^[\w.:-]*(?=")/.exec(json.slice(offset, offset + LOOKED_AT_CHARS))?.[0] ?? '';
  return { start: offset - typed.length, end: offset + rest.length, typed };
}
