import type { JSONObject } from '@ai-sdk/provider';
import type { ModelConfig } from '../config/models.ts';

type Outputs = Pick<ModelConfig, 'provider' | 'model'>;

/**
 * What the request must ask for so that a model makes images or speaks. Providers do not list which models can, but
 * they name them so.
 */
export function outputOptions({ provider, model }: Outputs): JSONObject {
  if (provider === 'google' && /-tts\b/.test(model)) return { responseModalities: ['AUDIO'] };
  if (provider === 'google' && /\bimage\b/.test(model)) return { responseModalities: ['TEXT', 'IMAGE'] };
  if (provider === 'openai-compatible' && /\bimage\b/.test(model)) return { modalities: ['image', 'text'] };
  if (provider === 'openai-chat' && /\baudio\b/.test(model)) return SPOKEN;
  return {};
}

/** Of the formats of audio, OpenAI streams only this one. */
const SPOKEN = { modalities: ['text', 'audio'], audio: { voice: 'alloy', format: 'pcm16' } };

/** Adds fields to the body of a request, which the SDK has no option for. */
export function withFields(fetch: typeof globalThis.fetch, fields: JSONObject): typeof globalThis.fetch {
  if (Object.keys(fields).length === 0) return fetch;
  return (input, init) => {
    const body = { ...JSON.parse(String(init?.body)), ...fields };
    return fetch(input, { ...init, body: JSON.stringify(body) });
  };
}
