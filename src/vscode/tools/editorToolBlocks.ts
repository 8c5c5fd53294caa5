import { encodeBase64 } from '../../base/base64.ts';

/**
 * Converts the result of a VS Code tool to MCP content blocks. Checks the shape, not the class, of each part: some
 * classes are newer than the types that we compile against.
 */
export function blocksOf(parts: readonly unknown[]): readonly object[] {
  return parts.map(blockOf);
}

function blockOf(part: unknown): object {
  const { value, data, mimeType } = fieldsOf(part);
  if (typeof value === 'string') return text(value);
  if (data instanceof Uint8Array && typeof mimeType === 'string') return blockOfData(data, mimeType);
  // A prompt element, or an unknown kind of part.
  return text(JSON.stringify(value ?? part) ?? String(part));
}

const TEXT_TYPE = /^(?:text\/|application\/json\b|application\/[\w.-]+\+json\b)/i;

function blockOfData(bytes: Uint8Array, mimeType: string): object {
  const kind = /^(image|audio)\//i.exec(mimeType)?.[1]?.toLowerCase();
  const decoded = TEXT_TYPE.test(mimeType) ? decode(bytes) : undefined;
  if (decoded !== undefined) return text(decoded);
  const data = encodeBase64(bytes);
  return kind
    ? { type: kind, data, mimeType }
    : { type: 'resource', resource: { uri: '', blob: data, mimeType } };
}

function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function text(value: string): object {
  return { type: 'text', text: value };
}

interface PartFields {
  readonly value?: unknown;
  readonly data?: unknown;
  readonly mimeType?: unknown;
}

/** Not a copy: some fields may be getters of a class. */
function fieldsOf(part: unknown): PartFields {
  return typeof part === 'object' && part !== null ? part : {};
}
