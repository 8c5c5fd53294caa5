import { createHash } from 'node:crypto';
import { Queues, unlessAborted } from '../../base/async.ts';
import { RecentValues } from '../../base/collections.ts';
import { messageOf } from '../../base/errors.ts';
import { type ImageFacts, type ImageLimits, imageLimits, planImage } from '../imageLimits.ts';
import { hasFrames, imageSize } from '../measure.ts';
import { orientationOf } from '../tiff.ts';
import type { ConvertedImage, DocumentJob, ImageJob, Job, Outcome } from './job.ts';

type FittedImage =
  | { readonly kind: 'keep' }
  | { readonly kind: 'images'; readonly images: readonly ConvertedImage[] }
  /** The reason is a clause: “it cannot be decoded”. */
  | { readonly kind: 'describe'; readonly reason: string };

type ReadDocument = Exclude<Outcome, { kind: 'image' }>;

/** All slices of an image together, so that they fit into one message. */
const MAX_SLICES_BYTES = 6_000_000;
/** Each has at most 6 MB. */
const MAX_KEPT = 30;

/** Converts images and documents, one at a time, each in a worker. Remembers the latest results by their content. */
export class Converter {
  readonly #queue = new Queues();
  readonly #kept = new RecentValues<Promise<Outcome>>(MAX_KEPT);

  /** Rejects only when aborted. */
  async fitImage(
    bytes: Uint8Array,
    mimeType: string,
    limits: ImageLimits,
    signal?: AbortSignal,
  ): Promise<FittedImage> {
    const { orientation, plan } = planFor(bytes, mimeType, limits);
    if (plan.kind !== 'convert') return plan;
    const { size, boxes } = plan;
    const maxBytes = Math.min(limits.maxBytes, Math.floor(MAX_SLICES_BYTES / boxes.length));
    const job: ImageJob = { kind: 'image', bytes, mimeType, orientation, size, boxes, maxBytes };
    const outcome = await this.#run(job, signal);
    if (outcome.kind === 'image') return { kind: 'images', images: outcome.images };
    return { kind: 'describe', reason: outcome.kind === 'failed' ? outcome.reason : 'it cannot be decoded' };
  }

  /** Rejects only when aborted. */
  async readDocument(job: Omit<DocumentJob, 'kind'>, signal?: AbortSignal): Promise<ReadDocument> {
    const outcome = await this.#run({ kind: 'document', ...job }, signal);
    return outcome.kind === 'image' ? { kind: 'failed', reason: 'it cannot be read' } : outcome;
  }

  async #run(job: Job, signal: AbortSignal | undefined): Promise<Outcome> {
    try {
      return await unlessAborted(this.#start(job, signal), signal);
    } catch {
      signal?.throwIfAborted();
    }
    // It was started by another request, which was stopped.
    return this.#start(job, signal).catch((error: unknown) => {
      signal?.throwIfAborted();
      return { kind: 'failed', reason: `it cannot be read: ${messageOf(error)}` };
    });
  }

  #start(job: Job, signal: AbortSignal | undefined): Promise<Outcome> {
    const { bytes, ...rest } = job;
    const key = `${createHash('sha256').update(bytes).digest('base64')} ${JSON.stringify(rest)}`;
    return this.#kept.get(key, () => {
      const outcome = this.#queue.run('', async () => (await import('./runJob.ts')).runJob(job, signal));
      outcome.catch(() => this.#kept.delete(key));
      return outcome;
    });
  }
}

/** Why an image cannot be sent to any model, as a clause, from its header. Undefined if it may be possible. */
export function unsendableReason(bytes: Uint8Array, mimeType: string): string | undefined {
  const { plan } = planFor(bytes, mimeType, imageLimits(''));
  return plan.kind === 'describe' ? plan.reason : undefined;
}

function planFor(bytes: Uint8Array, mimeType: string, limits: ImageLimits) {
  const orientation = mimeType === 'image/jpeg' || mimeType === 'image/tiff' ? orientationOf(bytes) : 1;
  const facts: ImageFacts = {
    mimeType,
    bytes: bytes.length,
    size: displayedSize(bytes, orientation),
    isTurned: orientation !== 1,
    moves: mimeType === 'image/gif' && hasFrames(bytes),
  };
  return { orientation, plan: planImage(facts, limits) };
}

function displayedSize(bytes: Uint8Array, orientation: number) {
  const size = imageSize(bytes);
  return size && orientation > 4 ? { width: size.height, height: size.width } : size;
}

let shared: Converter | undefined;

/** One for the process, so that requests and tools share its memory, and only one worker runs at a time. */
export function sharedConverter(): Converter {
  shared ??= new Converter();
  return shared;
}
