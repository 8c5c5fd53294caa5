import { bufferToBase64, isBytes, viewOf } from './base64.ts';
import { contentsOf, textContents } from './contents.ts';
import { checkSize, type Limits } from './limits.ts';
import { detectMimeType } from './mimeType.ts';
import type { Bytes, ResourceContents } from './types.ts';

/** What a resource holds: text, something that is written as JSON, or bytes. */
export type ResourceInput = string | Bytes | object;

export type ResourceOptions = Limits & { uri: string; mimeType?: string | undefined };

/** One item of the answer to `resources/read`. */
export function toResourceContents(content: ResourceInput, options: ResourceOptions): ResourceContents {
  if (typeof content === 'string') return textContents(content, options);
  if (!isBytes(content))
    return textContents(JSON.stringify(content, null, 2), {
      ...options,
      mimeType: options.mimeType ?? JSON_TYPE,
    });
  const bytes = viewOf(content);
  if (bytes.byteLength > 0) checkSize(bytes.byteLength, options);
  const mimeType = detectMimeType(bytes, options.uri, options.mimeType);
  return contentsOf({ mimeType, base64: () => bufferToBase64(bytes), bytes: () => bytes }, options.uri);
}

const JSON_TYPE = 'application/json';

/** The resources of a server where its own tools can read them too, in the same form as its clients. */
export class ResourceShelf {
  readonly #items = new Map<string, { readonly content: ResourceInput; readonly options: ResourceOptions }>();

  add(content: ResourceInput, options: ResourceOptions): this {
    this.#items.set(options.uri, { content, options });
    return this;
  }

  uris(): string[] {
    return [...this.#items.keys()];
  }

  read(uri: string): ResourceContents {
    const item = this.#items.get(uri);
    if (!item) throw new Error(`Resource not found: ${uri}`);
    return toResourceContents(item.content, item.options);
  }
}
