const REFERENCES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
};

/** Makes text safe between tags and in quoted attributes. */
export function toHtml(text: string): string {
  return text.replace(/[&<>"]/g, (character) => REFERENCES[character] ?? '');
}
