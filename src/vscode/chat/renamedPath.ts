/** The path after `from` was renamed to `to`; undefined if that is neither this path nor a folder above it. */
export function renamedPath(path: string, from: string, to: string): string | undefined {
  return isAtOrBelow(path, from) ? to + path.slice(from.length) : undefined;
}

export function isAtOrBelow(path: string, folder: string): boolean {
  return path === folder || path.startsWith(`${folder}/`);
}
