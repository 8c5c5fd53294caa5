/**
 * The shapes of MCP, so that tool authors need no SDK for them; they are compatible with its versions 1 and 2. They are
 * types and not interfaces, because only types are assignable to the open objects of the SDK.
 */

export type Bytes = Uint8Array | ArrayBuffer;

/** Bytes, or base64: plain, URL-safe, with line breaks, or as a data: URL. */
export type DataInput = Bytes | string;

export type ImageHint = { type: 'image'; data: DataInput; mimeType?: string | undefined };
export type AudioHint = { type: 'audio'; data: DataInput; mimeType?: string | undefined };
export type BinaryHint = {
  type: 'binary';
  data: DataInput;
  mimeType?: string | undefined;
  name?: string | undefined;
  /** The same as `name`. */
  filename?: string | undefined;
  uri?: string | undefined;
};
export type FileHint = {
  type: 'file';
  /** Relative to `basePath`, or to the working directory. */
  path: string;
  mimeType?: string | undefined;
  name?: string | undefined;
  /** The same as `name`. */
  filename?: string | undefined;
  uri?: string | undefined;
};
export type ContentHint = ImageHint | AudioHint | BinaryHint | FileHint;

/** Bytes, a hint, or a string: base64, a data: URL, or the path of a file with a known extension. */
export type ContentInput = Bytes | string | ContentHint;

export type ImageInput = Bytes | string | ImageHint | FileHint;
export type AudioInput = Bytes | string | AudioHint | FileHint;
export type BinaryInput = Bytes | string | BinaryHint | FileHint;

export type ContentType = 'text' | 'image' | 'audio' | 'binary';

export type ContentOptions = {
  /** Used as given. Without it, the type is detected by the bytes, then by the name. */
  mimeType?: string | undefined;
  /** The folder that paths are confined to. Required for safety whenever a path is not your own. */
  basePath?: string | undefined;
  /** The URI of an embedded resource. By default it is a hash of the bytes. */
  uri?: string | undefined;
  name?: string | undefined;
  /** Called for large files and unknown types. */
  onWarning?: ((message: string) => void) | undefined;
  /** The maximum size of one block, instead of `MAX_SIZE`. */
  maxBytes?: number | undefined;
  /** Such as `image/*` and `application/pdf`; other types are an error. The type by the bytes counts. */
  allowedTypes?: readonly string[] | undefined;
};

export type EmbedOptions = ContentOptions & { uri: string };

export type Annotations = {
  audience?: ('user' | 'assistant')[];
  priority?: number;
  lastModified?: string;
};
type Described = { annotations?: Annotations; _meta?: Record<string, unknown> };

export type TextContent = Described & { type: 'text'; text: string };
export type ImageContent = Described & { type: 'image'; data: string; mimeType: string };
export type AudioContent = Described & { type: 'audio'; data: string; mimeType: string };

export type TextContents = {
  uri: string;
  mimeType?: string;
  text: string;
  _meta?: Record<string, unknown>;
};
export type BlobContents = {
  uri: string;
  mimeType?: string;
  blob: string;
  _meta?: Record<string, unknown>;
};
/** An item in the response to `resources/read`. */
export type ResourceContents = TextContents | BlobContents;

export type EmbeddedResource = Described & { type: 'resource'; resource: ResourceContents };
/** MCP has no block for plain bytes: they are sent as a resource. */
export type BinaryContent = Described & { type: 'resource'; resource: BlobContents & { mimeType: string } };
export type ResourceLink = Described & {
  type: 'resource_link';
  uri: string;
  name: string;
  title?: string;
  description?: string;
  mimeType?: string;
  size?: number;
};

export type ToolResultContent = TextContent | ImageContent | AudioContent | EmbeddedResource | ResourceLink;

export type ToolResult = {
  content: ToolResultContent[];
  structuredContent?: Record<string, unknown>;
  isError?: boolean;
  _meta?: Record<string, unknown>;
};
