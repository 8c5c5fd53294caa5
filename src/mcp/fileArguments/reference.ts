import { readAssetName } from '../../base/assetNames.ts';
import { decodePercent } from '../../chat/format/escapeMarkers.ts';
import type { FileReference } from '../../ports/document.ts';

export type ParsedReference =
  | { readonly kind: 'reference'; readonly reference: FileReference }
  /** A reference that must not be used. */
  | { readonly kind: 'refused'; readonly reason: string }
  | { readonly kind: 'text' };

const MAX_REFERENCE_CHARS = 4096;

/**
 * Parses a string that consists of one reference. If the schema asks for a file, anything with the prefix is treated
 * as a reference; otherwise prose such as `file: see below` stays text.
 */
export function parseReference(text: string, fileExpected = false): ParsedReference {
  const [, scheme, rest = ''] = /^(asset|file):(.+)$/s.exec(text) ?? [];
  if (scheme === undefined) return TEXT;
  if (text.length > MAX_REFERENCE_CHARS || /[\r\n]/.test(rest)) return TEXT;
  if (!fileExpected && /\s/.test(rest)) return TEXT;
  return scheme === 'asset' ? readAsset(rest, fileExpected) : readFile(rest);
}

/** The reference for a path with forward slashes. Spaces are encoded, so that it is never read as prose. */
export function renderFileReference(path: string): string {
  return `file:${path.replace(/[%\s]/gu, encodeURIComponent)}`;
}

const TEXT: ParsedReference = { kind: 'text' };

function readAsset(name: string, fileExpected: boolean): ParsedReference {
  if (readAssetName(name)) return { kind: 'reference', reference: { kind: 'asset', name } };
  // Other systems use `asset:` too, such as `asset:4711` and `asset://shop/4711`.
  const foreign = /^[\w.~-]*\w[\w.~-]*$/.test(name) || name.startsWith('//');
  return foreign && !fileExpected && !name.includes('..') ? TEXT : refused(NO_ASSET);
}

const NO_ASSET =
  'it is not the name of an asset. Write the name of a file in cmdassets/ alone, such as asset:tool-image-20261116-093012-V1StGXR8a0-1.png';

/** Checks the text before and after decoding. */
function readFile(written: string): ParsedReference {
  const encoded = /%(?:2e|2f|5c|00)/i.test(written);
  const path = decodePercent(written);
  const reason = encoded
    ? 'it contains percent-encoded dots, slashes or NUL characters. Write them unencoded'
    : FORBIDDEN.find(({ pattern }) => pattern.test(path))?.reason;
  if (reason !== undefined) return refused(reason);
  return { kind: 'reference', reference: { kind: 'file', path: withoutAuthority(path) } };
}

const FORBIDDEN: readonly { readonly pattern: RegExp; readonly reason: string }[] = [
  { pattern: /[\u0000-\u001f\u007f]/, reason: 'it contains control characters' },
  { pattern: /\\/, reason: 'it contains a backslash. Separate folders with /' },
  {
    pattern: /^\/\/(?:$|[^/]|\/\/)/,
    reason: 'it names another computer. Write file:relative/path or file:///absolute/path',
  },
  { pattern: /^[A-Za-z]:/, reason: 'it starts with a drive letter. Write file:///C:/path' },
  { pattern: /^~(?:\/|$)/, reason: '~ is not expanded. Write file:relative/path or file:///absolute/path' },
];

/** `file:///a` and `file:/a` are the same absolute path. On Windows the drive has no slash before it. */
function withoutAuthority(path: string): string {
  return path.replace(/^\/\/\//, '/').replace(/^\/(?=[A-Za-z]:\/)/, '');
}

function refused(reason: string): ParsedReference {
  return { kind: 'refused', reason };
}

const MAX_FOUND = 5_000;
const ASSET_REFERENCE = /(?<![\w./:-])asset:[\w.-]+\w/g;

export function findAssetReferences(
  text: string,
): readonly { readonly name: string; readonly start: number; readonly end: number }[] {
  const found = [];
  for (const { 0: reference, index: start } of text.matchAll(ASSET_REFERENCE)) {
    const name = reference.slice('asset:'.length);
    if (readAssetName(name)) found.push({ name, start, end: start + reference.length });
    if (found.length === MAX_FOUND) break;
  }
  return found;
}
