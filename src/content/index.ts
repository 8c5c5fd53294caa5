/** The public API of `filechat/content`. */

export {
  type ResourceInput,
  type ResourceOptions,
  ResourceShelf,
  toAudioContent,
  toBinaryContent,
  toEmbeddedResource,
  toImageContent,
  toResourceContents,
} from './blocks.ts';
export {
  base64ToBuffer,
  bufferToBase64,
  detectMimeType,
  isValidMimeType,
  MAX_SAFE_SIZE,
  MAX_SIZE,
  validateBase64,
} from './bytes.ts';
export { fileToBase64, sanitizeFilePath } from './files.ts';
export { normalizeResult } from './normalizeResult.ts';
export type * from './types.ts';
