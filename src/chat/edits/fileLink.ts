export interface FileLink {
  readonly label: string;
  /** A path or an address, not encoded. */
  readonly target: string;
  readonly isImage: boolean;
}

/** A Markdown link to a file that means this file and nothing else, whatever its name is. */
export function renderFileLink({ label, target, isImage }: FileLink): string {
  return `${isImage ? '!' : ''}[${renderLabel(label)}](${target})`;
}

const MAX_LABEL_CHARS = 100;

function renderLabel(label: string): string {
  const line = label
    .normalize('NFC')
    .replace(/[\p{C}\s]+/gu, ' ')
    .trim();
  const cut = Array.from(line).slice(0, MAX_LABEL_CHARS).join('');
  return cut.replace(/[\\`*_[\]<>!&$]/g, '\\$&') || 'file';
}

/** Letters of any language stay readable; whatever means something in Markdown or in an address does not stay. */
export function encodeTarget(path: string): string {
  return path.toWellFormed().replace(/[^\p{L}\p{N}\-._~/@+,=]/gu, encodeSign);
}

/** The language's own function leaves brackets, quotes and some other signs alone. */
function encodeSign(character: string): string {
  const encoded = encodeURIComponent(character);
  return encoded === character ? `%${character.charCodeAt(0).toString(16).toUpperCase()}` : encoded;
}
