import { describeSize } from '../base/size.ts';
import type { ImageSize } from './measure.ts';

/**
 * The limits of providers, all in this file, as of November 2026. An image that exceeds one makes a provider refuse the
 * whole request, and every later request of the chat too.
 */
export interface ImageLimits {
  /** The longest side in pixels. */
  readonly maxSide: number;
  /** Of one image, before base64. */
  readonly maxBytes: number;
  /** In one request. */
  readonly maxImages: number;
  /** Refuses every GIF, or only those that move. */
  readonly refusedGif?: 'every' | 'moving';
}

/** 5 MB as base64: Anthropic on Bedrock and Vertex, and hosts of MCP servers. Anthropic's own API accepts 10 MB. */
export const MAX_IMAGE_BYTES = 3_750_000;

/**
 * For all others. VS Code scales the images of its own chat to 2,048 pixels; no provider here is known to refuse that.
 * Azure accepts 50 images (github.com/anomalyco/opencode/issues/39677); OpenAI itself is said to accept 500, and 50 MB.
 */
const OTHERS: ImageLimits = { maxSide: 2048, maxBytes: MAX_IMAGE_BYTES, maxImages: 50 };

/** platform.openai.com/docs/guides/images-vision: PNG, JPEG, WebP, and GIF that does not move. */
const OPENAI: ImageLimits = { ...OTHERS, refusedGif: 'moving' };

const PROVIDERS: Readonly<Record<string, ImageLimits>> = {
  // platform.claude.com/docs/en/build-with-claude/vision: 8,000 pixels, but 2,000 above 20 images; 100 images; sides
  // above 1,568 pixels are scaled down. The lower number holds whatever the chat adds later.
  anthropic: { maxSide: 2000, maxBytes: MAX_IMAGE_BYTES, maxImages: 100 },
  // docs.cloud.google.com/vertex-ai, “Image understanding”: 7 MB an image inline; 900 to 3,000 images; PNG, JPEG, WebP,
  // HEIC and HEIF.
  google: { ...OTHERS, maxImages: 100, refusedGif: 'every' },
  openai: OPENAI,
  'openai-chat': OPENAI,
};

export function imageLimits(provider: string): ImageLimits {
  return (Object.hasOwn(PROVIDERS, provider) ? PROVIDERS[provider] : undefined) ?? OTHERS;
}

/** Anthropic accepts 100 pages, and more only with newer models; Google 1,000. */
export const MAX_PDF_PAGES = 100;

/** Every provider that accepts images accepts these types, but some of them no GIF. */
export const SENT_TYPES: ReadonlySet<string> = new Set([
  'image/png',
  'image/jpeg',
  'image/gif',
  'image/webp',
]);

/** These are converted; an animated PNG becomes its first frame. AVIF and HEIC cannot be decoded here. */
const CONVERTED_TYPES: ReadonlySet<string> = new Set(['image/bmp', 'image/tiff', 'image/apng']);

export function isSendableImage(mimeType: string): boolean {
  return SENT_TYPES.has(mimeType) || CONVERTED_TYPES.has(mimeType);
}

/** A larger file is not read to be scaled. As large as results may be by default. */
export const MAX_SCALED_BYTES = 52_428_800;
/** 200 MB as pixels in memory. A tiny file can claim any size. */
const MAX_PIXELS = 50_000_000;
/** What models see: providers scale larger sides down to about this. */
const READABLE_SIDE = 1568;
/** From this ratio on, scaling to the readable side makes text too small to read. */
const MIN_CUT_RATIO = 2.5;
const MAX_SLICES = 10;
/** So that each line of text is whole in one of two neighbors. */
const OVERLAP = 40;

export interface Box {
  readonly left: number;
  readonly top: number;
  readonly width: number;
  readonly height: number;
}

export type ImagePlan =
  | { readonly kind: 'keep' }
  /** Scale to the size, then cut the boxes out. One box is the whole image. */
  | { readonly kind: 'convert'; readonly size: ImageSize; readonly boxes: readonly Box[] }
  | { readonly kind: 'describe'; readonly reason: string };

export interface ImageFacts {
  readonly mimeType: string;
  readonly bytes: number;
  /** As it is displayed; undefined if the header cannot be read. */
  readonly size: ImageSize | undefined;
  /** The pixels must be turned or mirrored to be displayed. Not every model is shown them so. */
  readonly isTurned?: boolean;
  /** A GIF with several frames. */
  readonly moves?: boolean;
}

/** Decides what is sent of an image, from its header. */
export function planImage(image: ImageFacts, limits: ImageLimits): ImagePlan {
  const { mimeType, bytes, size, isTurned = false, moves = false } = image;
  if (!isSendableImage(mimeType)) return describe(`${mimeType} cannot be converted here`);
  if (bytes > MAX_SCALED_BYTES)
    return describe(`it has ${describeSize(bytes)}, and at most ${describeSize(MAX_SCALED_BYTES)} are read`);
  if (size === undefined) {
    // Without a size it cannot be scaled, but the provider may still accept it.
    return SENT_TYPES.has(mimeType) && bytes <= limits.maxBytes
      ? { kind: 'keep' }
      : describe('its header cannot be read');
  }
  const { width, height } = size;
  if (width * height > MAX_PIXELS)
    return describe(
      `it has ${width} × ${height} pixels, and at most ${MAX_PIXELS / 1e6} million are decoded`,
    );
  const fits = Math.max(width, height) <= limits.maxSide && bytes <= limits.maxBytes;
  const isRefusedGif =
    limits.refusedGif === 'every' ? mimeType === 'image/gif' : limits.refusedGif === 'moving' && moves;
  if (fits && !isTurned && !isRefusedGif && SENT_TYPES.has(mimeType)) return { kind: 'keep' };
  return { kind: 'convert', ...cut(size) };
}

function describe(reason: string): ImagePlan {
  return { kind: 'describe', reason };
}

function cut({ width, height }: ImageSize): { readonly size: ImageSize; readonly boxes: readonly Box[] } {
  const [long, short] = [Math.max(width, height), Math.min(width, height)];
  const isCut = long > READABLE_SIDE && long / short > MIN_CUT_RATIO;
  const maxLong = isCut ? MAX_SLICES * (READABLE_SIDE - OVERLAP) : READABLE_SIDE;
  const factor = Math.min(1, maxLong / long, READABLE_SIDE / short);
  const scaled = {
    width: Math.max(1, Math.round(width * factor)),
    height: Math.max(1, Math.round(height * factor)),
  };
  const ranges = slices(Math.max(scaled.width, scaled.height));
  const boxes = ranges.map(([from, length]) =>
    width > height
      ? { left: from, top: 0, width: length, height: scaled.height }
      : { left: 0, top: from, width: scaled.width, height: length },
  );
  return { size: scaled, boxes };
}

/** Pieces of about the same length that overlap. */
function slices(length: number): readonly (readonly [from: number, length: number])[] {
  const count = length <= READABLE_SIDE ? 1 : Math.ceil((length - OVERLAP) / (READABLE_SIDE - OVERLAP));
  const step = Math.ceil((length - OVERLAP) / count);
  return Array.from({ length: count }, (_, at) => [
    at * step,
    Math.min(length - at * step, count === 1 ? length : step + OVERLAP),
  ]);
}
