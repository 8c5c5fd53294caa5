import type { ChatModel, ModelEvent, ModelRequest, RequestFeature } from '../../ports/models.ts';
import type { KnownLimits } from '../config/limits.ts';
import { isImage, leaveOut } from '../request/features.ts';
import { refusedFeature } from './refusals.ts';
import { isModelFailure } from './retry.ts';

/** A model whose requests leave out what it has refused before, and what it refuses now. */
export function limitModel(model: ChatModel, limits: KnownLimits): ChatModel {
  return {
    ...model,
    accepts: (mimeType) =>
      model.accepts(mimeType) && !limits.known().has(isImage({ mimeType }) ? 'images' : 'documents'),
    hasOwnTool: (tool) => model.hasOwnTool?.(tool) === true && !limits.known().has('tools'),
    stream: (request, signal) => streamAccepted({ model, limits, request, signal }),
    preview: (request) => model.preview(leaveOut(request, limits.known())),
  };
}

interface LimitedRequest {
  readonly model: ChatModel;
  readonly limits: KnownLimits;
  readonly request: ModelRequest;
  readonly signal: AbortSignal;
}

/**
 * Repeats a refused request without the feature that was refused, as long as nothing of the reply has arrived. A
 * feature is left out once, so the number of repetitions is limited. It is remembered only if that has helped.
 */
async function* streamAccepted(limited: LimitedRequest): AsyncGenerator<ModelEvent, void, undefined> {
  const { model, limits, request, signal } = limited;
  const refused = new Map<RequestFeature, string>();
  for (;;) {
    const sent = leaveOut(request, new Set([...limits.known(), ...refused.keys()]));
    let hasBegun = false;
    try {
      for await (const event of model.stream(sent, signal)) {
        if (!hasBegun) for (const [feature, reason] of refused) await limits.learn(feature, reason);
        hasBegun = true;
        yield event;
      }
      return;
    } catch (error) {
      if (hasBegun || signal.aborted || !isModelFailure(error)) throw error;
      const feature = refusedFeature(error, sent);
      if (feature === undefined || !isSentTo(model, feature)) throw error;
      refused.set(feature, error.failure?.reason ?? error.message);
    }
  }
}

/** The API of VS Code has no system role, and always streams. */
function isSentTo({ provider }: ChatModel, feature: RequestFeature): boolean {
  return provider !== 'vscode' || (feature !== 'system' && feature !== 'streaming');
}
