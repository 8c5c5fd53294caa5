/**
 * What tools give, and what becomes of it. The shapes are MCP's own, written down here so that who writes a tool
 * needs no SDK for them; they fit the results of its versions 1 and 2. They are types and not interfaces, because
 * only types fit the open objects of the SDK.
 */

export type Bytes = Uint8Array | ArrayBuffer;

/** Bytes, or base64: plain, URL-safe, in lines, or as a data: URL. */
export type DataInput = Bytes | string;

export type ImageHint = { type: 'image'; data: DataInput; mimeType?: string | undefined };
export type AudioHint = { type: 'audio'; data: DataInput; mimeType?: string | undefined };
export type BinaryHint = {
  type: 'binary';
  data: DataInput;
  mimeType?: string | undefined;
  name?: string | undefined;
  uri?: string | undefined;
};
export type FileHint = {
  type: 'file';
  /** Relative paths count from `basePath`, or from the working directory. */
  path: string;
  mimeType?: string | undefined;
  name?: string | undefined;
  uri?: string | undefined;
};
export type ContentHint = ImageHint | AudioHint | BinaryHint | FileHint;

/** Bytes, a hint, or a string: base64, a data: URL, or the path of a file whose extension is known. */
export type ContentInput = Bytes | string | ContentHint;

export type ContentOptions = {
  /** What it is. It is believed; without it the bytes are asked, then the name. */
  mimeType?: string | undefined;
  /** The folder out of which no path leads. Give it whenever a path comes from somebody else. */
  basePath?: string | undefined;
  /** The address of an embedded resource. Without one it is made from the bytes, the same for the same bytes. */
  uri?: string | undefined;
  name?: string | undefined;
  /** Told of large files and doubtful types. Without it nothing is said: a library does not write to a log. */
  onWarning?: ((message: string) => void) | undefined;
  /** The most bytes that one block may have, in place of `MAX_SIZE`. */
  maxBytes?: number | undefined;
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
/** What `resources/read` answers with. */
export type ResourceContents = TextContents | BlobContents;

export type EmbeddedResource = Described & { type: 'resource'; resource: ResourceContents };
/** MCP has no block of bytes alone: they travel as a resource. */
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
