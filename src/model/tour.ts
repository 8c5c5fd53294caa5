import { setTimeout as delay } from 'node:timers/promises';
import { estimateTokenCount } from 'tokenx';
import type { ChatModel, ModelEvent, ModelRequest } from '../ports.ts';
import { estimateRequest } from './request/estimate.ts';
import { planReply, type TourReply } from './tourScript.ts';

export interface TourModelOptions {
  /** Between two pieces of the reply. Rejects when the signal says so. */
  readonly pause?: (signal: AbortSignal) => Promise<void>;
}

const PAUSE_MS = 15;

/** A script in the place of a model, for those who have none yet: it is always there, and says what it is. */
export class TourModel implements ChatModel {
  readonly name = 'tour';
  readonly provider = 'tour';
  readonly #pause: (signal: AbortSignal) => Promise<void>;

  constructor({ pause = shortPause }: TourModelOptions = {}) {
    this.#pause = pause;
  }

  accepts(mimeType: string): boolean {
    return /^(?:image\/(?:png|jpeg|gif|webp)|audio\/.+|application\/pdf)$/.test(mimeType);
  }

  async *stream(request: ModelRequest, signal: AbortSignal): AsyncIterable<ModelEvent> {
    const reply = planReply(request);
    for (const event of eventsOf(reply)) {
      try {
        await this.#pause(signal);
      } catch (error) {
        if (!signal.aborted) throw error;
      }
      if (signal.aborted) return;
      yield event;
    }
    yield {
      kind: 'finish',
      reason: reply.calls.length > 0 ? 'calls' : 'stop',
      usage: { input: estimateRequest(request).total, output: countOutput(reply) },
    };
  }

  /** There is nothing to leave out: no key goes anywhere, and files are not read. */
  async preview(request: ModelRequest): Promise<string> {
    return JSON.stringify(request, undefined, 2);
  }
}

function* eventsOf({ reasoning, text, calls }: TourReply): Generator<ModelEvent> {
  for (const piece of pieces(reasoning)) yield { kind: 'reasoning', text: piece };
  for (const piece of pieces(text)) yield { kind: 'text', text: piece };
  for (const [number, { name, args }] of calls.entries()) {
    const key = `call${number + 1}`;
    const argumentsText = JSON.stringify(args);
    for (const piece of pieces(argumentsText)) yield { kind: 'callInput', key, name, text: piece };
    yield { kind: 'call', key, name, argumentsText };
  }
}

/** Word by word, with the white space, so that the pieces joined are the text. */
function pieces(text: string): readonly string[] {
  return text.match(/\s*\S+\s*/g) ?? [];
}

function countOutput({ reasoning, text, calls }: TourReply): number {
  return estimateTokenCount(`${reasoning}${text}${calls.map((call) => JSON.stringify(call)).join('')}`);
}

async function shortPause(signal: AbortSignal): Promise<void> {
  await delay(PAUSE_MS, undefined, { signal });
}
