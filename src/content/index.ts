/** What tool authors import as `filechat/content`: everything here is public, and nothing else is. */
export { base64ToBuffer, bufferToBase64, validateBase64 } from './base64.ts';
export { toAudioContent, toBinaryContent, toEmbeddedResource, toImageContent } from './blocks.ts';
export { fileToBase64, sanitizeFilePath } from './files.ts';
export { MAX_SAFE_SIZE, MAX_SIZE } from './limits.ts';
export { detectMimeType, isValidMimeType } from './mimeType.ts';
export { normalizeResult } from './normalizeResult.ts';
export { type ResourceInput, type ResourceOptions, ResourceShelf, toResourceContents } from './resources.ts';
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
