const MAX_NAME_CHARS = 80;

/** The last segment of a resource's URI, made safe to show as the text of a link. */
export function nameFromUri(uri: string | undefined): string | undefined {
  const path = uri
    ?.replace(/[?#].*$/s, '')
    // The host of a web address names no file; in a scheme of a server's own, `demo://report.pdf` does.
    .replace(/^https?:\/\/[^/]*/i, '')
    .replace(/^[a-z][a-z0-9+.-]*:/i, '');
  const segment = path?.split(/[/\\]/).findLast((each) => each !== '');
  return segment === undefined ? undefined : safeName(decode(segment));
}

/** Letters, digits and the few signs that mean nothing to Markdown; the rest becomes `_`. */
function safeName(text: string): string | undefined {
  const name = text
    .normalize('NFC')
    .replace(/[^\p{L}\p{M}\p{N} ._()+,=@-]+/gu, '_')
    .replace(/\s+/g, ' ')
    .trim();
  const cut = Array.from(name).slice(0, MAX_NAME_CHARS).join('');
  return /[\p{L}\p{N}]/u.test(cut) ? cut : undefined;
}

function decode(segment: string): string {
  try {
    return decodeURIComponent(segment);
  } catch {
    return segment;
  }
}
