export type TypedKey =
  | { readonly ok: true; readonly key: string }
  | { readonly ok: false; readonly problem: 'empty' | 'whitespace' | 'characters' };

/** Reads a key as people paste it: in quotes, with a line break, as a header, or as a line of an environment file. */
export function readKey(text: string): TypedKey {
  const key = text
    .replace(/\s*[\r\n]+\s*/g, '')
    .trim()
    .replace(/^(?:export\s+)?[A-Z][A-Z0-9_]*\s*=\s*/, '')
    .replace(/^(?:authorization|x-api-key|x-goog-api-key)\s*:\s*/i, '')
    .replace(/^(["'`“”])(.*?)["'`“”]?;?$/, '$2')
    .replace(/^bearer(?:\s+|$)/i, '')
    .trim();
  if (key === '') return { ok: false, problem: 'empty' };
  if (/\s/.test(key)) return { ok: false, problem: 'whitespace' };
  // The key becomes an HTTP header.
  return /[^\x21-\x7e]/.test(key) ? { ok: false, problem: 'characters' } : { ok: true, key };
}
