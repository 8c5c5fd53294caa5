import { randomUUID } from 'node:crypto';
import { AnthropicLanguageModel } from '@ai-sdk/anthropic/internal';
import { GoogleLanguageModel } from '@ai-sdk/google/internal';
import { OpenAIChatLanguageModel, OpenAIResponsesLanguageModel } from '@ai-sdk/openai/internal';
import { OpenAICompatibleChatLanguageModel } from '@ai-sdk/openai-compatible';
import type { LanguageModelV4 } from '@ai-sdk/provider';
import type { ModelConfig } from '../config/models.ts';
import { headersFor } from './endpoint.ts';
import { baseUrlOf } from './wire.ts';

/**
 * The package's model for one request. The classes are used, as other packages of the SDK do, and not the
 * factories around them: those look for keys and addresses in the environment, some as soon as they are
 * loaded, while a key belongs to the endpoint that it was set for. They also weigh a fifth less.
 */
export function createLanguageModel(
  config: ModelConfig,
  key: string | undefined,
  fetch: typeof globalThis.fetch,
): LanguageModelV4 {
  const { provider, model } = config;
  const baseURL = baseUrlOf(config);
  const settings = { baseURL, headers: headersFor(config, key), fetch, generateId: randomUUID };
  const url = ({ path }: { readonly path: string }) => `${baseURL}${path}`;
  switch (provider) {
    case 'anthropic':
      return new AnthropicLanguageModel(model, { ...settings, provider: 'anthropic.messages' });
    case 'openai':
      return new OpenAIResponsesLanguageModel(model, { ...settings, url, provider: 'openai.responses' });
    case 'openai-chat':
      return new OpenAIChatLanguageModel(model, { ...settings, url, provider: 'openai.chat' });
    case 'google':
      return new GoogleLanguageModel(model, { ...settings, provider: 'google.generative-ai' });
    default:
      return new OpenAICompatibleChatLanguageModel(model, {
        ...settings,
        url,
        provider: 'openaiCompatible.chat',
        includeUsage: true,
      });
  }
}
