import { describeSize } from '../base/size.ts';
import { mediaByExtension, UNKNOWN } from '../media/table.ts';
import type { Asset, AssetPart, LinkPart, ResultPart, ToolResult } from '../ports/results.ts';
import { type SummaryValues, summarize } from './summary.ts';

export type ModelPart =
  | { readonly kind: 'text'; readonly text: string }
  | { readonly kind: 'image'; readonly path: string; readonly mimeType: string };

export interface AboutAsset {
  readonly size: number;
  readonly mimeType: string;
}

export interface ModelViewOptions {
  readonly about: (path: string) => AboutAsset | undefined;
  readonly sendImages?: 'auto' | 'always' | 'never';
  readonly maxImageBytes?: number;
  readonly template?: string;
}

/** 5 MB as base64, the strictest limit of a provider. */
export const MAX_IMAGE_BYTES = 3_750_000;

/** Text as text, small images as images, and one short line for everything else. */
export function toModelParts({ parts }: ToolResult, options: ModelViewOptions): readonly ModelPart[] {
  return parts.filter((part) => part.audience !== 'user').flatMap((part) => viewPart(part, options));
}

function viewPart(part: ResultPart, options: ModelViewOptions): readonly ModelPart[] {
  switch (part.kind) {
    case 'text':
      return [text(part.source ? `From ${part.source.uri}:\n${part.text}` : part.text)];
    case 'data':
      return [text(part.json)];
    case 'problem':
      return [text(`⚠ ${part.message}`)];
    case 'link':
      return [text(describeLink(part))];
    case 'asset':
      return viewAsset(part, options);
  }
}

/** Supported by every model that accepts images. */
const SENT_TYPES = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp']);

function viewAsset({ asset, preview }: AssetPart, options: ModelViewOptions): readonly ModelPart[] {
  const about = options.about(asset.path);
  const mimeType = about?.mimeType ?? typeByName(asset.path);
  const { sendImages = 'auto', maxImageBytes = MAX_IMAGE_BYTES } = options;
  const isSmall = about !== undefined && about.size > 0 && about.size <= maxImageBytes;
  if (asset.kind === 'image' && sendImages !== 'never' && isSmall && SENT_TYPES.has(mimeType)) {
    return [{ kind: 'image', path: asset.path, mimeType }];
  }
  const line = text(summarize(describeAsset(asset, mimeType, about), options.template));
  return preview === undefined ? [line] : [line, text(preview)];
}

/** How arguments of a tool call refer to an asset. */
export function assetReference(path: string): string {
  return `asset:${path.slice(path.lastIndexOf('/') + 1)}`;
}

/** The MIME types of Office files are longer and no clearer than the extension. */
const MAX_TYPE_CHARS = 40;

export function describeAsset(
  { kind, number, path, name }: Asset,
  mimeType: string,
  about: { readonly size: number } | undefined,
): SummaryValues {
  const extension = path.slice(path.lastIndexOf('.') + 1);
  return {
    kind,
    name: stripTags(name ?? String(number)),
    type: mimeType.length > MAX_TYPE_CHARS ? extension : mimeType,
    size: about ? describeSize(about.size) : '',
    ref: assetReference(path),
  };
}

function describeLink({ uri, name, mimeType, size }: LinkPart): string {
  return summarize({
    kind: 'resource',
    name: name === uri ? '' : stripTags(name),
    type: mimeType !== undefined && mimeType.length <= MAX_TYPE_CHARS ? mimeType : '',
    size: size === undefined ? '' : describeSize(size),
    ref: stripTags(uri),
  });
}

function typeByName(path: string): string {
  const type = mediaByExtension(path.slice(path.lastIndexOf('.') + 1)) ?? UNKNOWN;
  return type.types[0] ?? 'application/octet-stream';
}

function text(value: string): ModelPart {
  return { kind: 'text', text: stripTags(value) };
}

/** Tag characters are invisible to users, but models read them as letters. */
function stripTags(value: string): string {
  return value.replace(/[\u{e0000}-\u{e0fff}]/gu, '');
}
