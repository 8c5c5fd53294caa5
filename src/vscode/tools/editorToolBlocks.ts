/**
 * What one of the editor's tools returned, as the blocks of an MCP result. By shape and not by class: the classes
 * are the editor's, and some are newer than the types that we compile against.
 */
export function blocksOf(parts: readonly unknown[]): readonly object[] {
  return parts.map(blockOf);
}

function blockOf(part: unknown): object {
  const { value, data, mimeType } = fieldsOf(part);
  if (typeof value === 'string') return text(value);
  if (data instanceof Uint8Array && typeof mimeType === 'string') return blockOfData(data, mimeType);
  // A prompt element, or a kind of part that is not known yet.
  return text(JSON.stringify(value ?? part) ?? String(part));
}

const TEXT_TYPE = /^(?:text\/|application\/json\b|application\/[\w.-]+\+json\b)/i;

function blockOfData(bytes: Uint8Array, mimeType: string): object {
  const kind = /^(image|audio)\//i.exec(mimeType)?.[1]?.toLowerCase();
  const said = TEXT_TYPE.test(mimeType) ? decode(bytes) : undefined;
  if (said !== undefined) return text(said);
  const data = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('base64');
  return kind
    ? { type: kind, data, mimeType }
    : { type: 'resource', resource: { uri: '', blob: data, mimeType } };
}

/** Nothing for bytes that only claim to be text. */
function decode(bytes: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(bytes);
  } catch {
    return undefined;
  }
}

function text(words: string): object {
  return { type: 'text', text: words };
}

interface PartFields {
  readonly value?: unknown;
  readonly data?: unknown;
  readonly mimeType?: unknown;
}

/** Not copied: some fields may be getters of a class. */
function fieldsOf(part: unknown): PartFields {
  return typeof part === 'object' && part !== null ? part : {};
}
