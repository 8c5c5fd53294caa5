import { mapConcurrently } from '../../base/async.ts';
import { describeSize } from '../../base/size.ts';
import { sharedConverter } from '../../media/convert/converter.ts';
import { type ImageLimits, imageLimits, isSendableImage } from '../../media/imageLimits.ts';
import type { ContentPart, FilePart, ModelRequest } from '../../ports/models.ts';
import { filesOf, mapContent, textPart } from './messages.ts';

const MAX_PARALLEL_READS = 4;

/**
 * Replaces images that the provider would refuse or could not see well by smaller ones, and those that cannot be
 * converted by a line. The saved files stay as they are. Rejects only when aborted.
 */
export async function fitImages(
  request: ModelRequest,
  provider: string,
  signal: AbortSignal,
): Promise<ModelRequest> {
  const limits = imageLimits(provider);
  const images = request.messages.flatMap(filesOf).filter(({ mimeType }) => isSendableImage(mimeType));
  if (images.length === 0) return request;
  const fit = async (image: FilePart) => [image, await fitImage(image, limits, signal)] as const;
  const fitted = new Map(await mapConcurrently(MAX_PARALLEL_READS, [...new Set(images)], fit));
  leaveOutOldest(images, fitted, limits.maxImages);
  const view = (parts: readonly ContentPart[]) =>
    parts.flatMap((part) => (part.kind === 'file' ? (fitted.get(part) ?? [part]) : [part]));
  return { ...request, messages: request.messages.map((message) => mapContent(message, view)) };
}

async function fitImage(
  image: FilePart,
  limits: ImageLimits,
  signal: AbortSignal,
): Promise<readonly ContentPart[]> {
  const { name, mimeType } = image;
  // An unreadable file is reported when the request is sent.
  const bytes = await image.read(signal).catch(() => undefined);
  signal.throwIfAborted();
  if (bytes === undefined) return [image];
  const fitted = await sharedConverter().fitImage(bytes, mimeType, limits, signal);
  if (fitted.kind === 'keep') return [image];
  if (fitted.kind === 'describe') return [notShown(image, fitted.reason)];
  const parts = fitted.images.map(
    (each): FilePart => ({
      kind: 'file',
      name,
      mimeType: each.mimeType,
      size: each.bytes.length,
      read: async () => each.bytes,
    }),
  );
  if (parts.length === 1) return parts;
  return [
    textPart(`[${name} is tall or wide: the next ${parts.length} images are its parts, in order]`),
    ...parts,
  ];
}

function notShown({ name, mimeType, size }: FilePart, reason: string): ContentPart {
  return textPart(`[${name}: ${mimeType}, ${describeSize(size)}; not shown: ${reason}]`);
}

/** An image may have become several. */
function leaveOutOldest(
  images: readonly FilePart[],
  fitted: Map<FilePart, readonly ContentPart[]>,
  maxImages: number,
): void {
  const countOf = (image: FilePart) => (fitted.get(image) ?? []).filter(({ kind }) => kind === 'file').length;
  let count = images.reduce((sum, image) => sum + countOf(image), 0);
  for (const image of images) {
    if (count <= maxImages) return;
    count -= countOf(image);
    fitted.set(image, [notShown(image, `a request can have at most ${maxImages} images`)]);
  }
}
