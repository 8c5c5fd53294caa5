/** The public API of `filechat/content`. */

export { base64ToBuffer, bufferToBase64, MAX_SAFE_SIZE, MAX_SIZE, validateBase64 } from './base64.ts';
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
export { fileToBase64, sanitizeFilePath } from './files.ts';
export { detectMimeType, isValidMimeType } from './mimeType.ts';
export { normalizeResult } from './normalizeResult.ts';
export type {
  Annotations,
  AudioContent,
  AudioHint,
  BinaryContent,
  BinaryHint,
  BlobContents,
  Bytes,
  ContentHint,
  ContentInput,
  ContentOptions,
  DataInput,
  EmbeddedResource,
  EmbedOptions,
  FileHint,
  ImageContent,
  ImageHint,
  ResourceContents,
  ResourceLink,
  TextContent,
  TextContents,
  ToolResult,
  ToolResultContent,
} from './types.ts';
