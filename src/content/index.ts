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
  MAX_SIZE as MAX_FILE_SIZE,
  validateBase64,
  validateBase64 as isBase64String,
  validateFileType,
} from './bytes.ts';
export {
  detectContentType,
  detectMimeTypeFromExtension,
  detectMimeTypeFromExtension as getMimeTypeFromExtension,
  detectMimeTypeFromMagicBytes,
  getFileExtension,
  MIME_TYPES,
} from './detect.ts';
export { fileToBase64, sanitizeFilePath } from './files.ts';
export { normalizeResult } from './normalizeResult.ts';
export type * from './types.ts';
