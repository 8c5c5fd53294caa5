import type {
  JSONObject,
  LanguageModelV4CallOptions,
  LanguageModelV4FunctionTool,
  LanguageModelV4Prompt,
} from '@ai-sdk/provider';
import { isRecord } from '../../base/json.ts';
import type { ModelRequest, ModelTool, Reasoning } from '../../ports.ts';
import type { ModelConfig } from '../config/models.ts';

/** The package knows the limits of Claude; for others at the same kind of endpoint it would ask for 4096. */
const ANTHROPIC_MAX_TOKENS = 8192;
const EFFORTS = { off: 'none', low: 'low', medium: 'medium', high: 'high' } as const;
const CACHED = { anthropic: { cacheControl: { type: 'ephemeral' } } };

/** Everything of a call but its signal. */
export function toCallOptions(
  config: ModelConfig,
  request: ModelRequest,
  prompt: LanguageModelV4Prompt,
): LanguageModelV4CallOptions {
  const reasoning = request.reasoning ?? config.reasoning;
  const maxOutputTokens = request.maxTokens ?? config.maxTokens ?? defaultMaxTokens(config);
  const tools = request.tools.map(toTool);
  const providerOptions = optionsFor(config, reasoning);
  if (config.provider === 'anthropic') markForCache(prompt, tools);
  return {
    prompt,
    ...(tools.length > 0 && { tools }),
    ...(maxOutputTokens !== undefined && { maxOutputTokens }),
    ...(request.temperature !== undefined && { temperature: request.temperature }),
    ...(reasoning !== undefined && { reasoning: EFFORTS[reasoning] }),
    ...(providerOptions !== undefined && { providerOptions }),
  };
}

function defaultMaxTokens({ provider, model }: ModelConfig): number | undefined {
  return provider === 'anthropic' && !model.includes('claude') ? ANTHROPIC_MAX_TOKENS : undefined;
}

function optionsFor(
  { provider }: ModelConfig,
  reasoning: Reasoning | undefined,
): Record<string, JSONObject> | undefined {
  const thinks = reasoning !== undefined && reasoning !== 'off';
  switch (provider) {
    case 'openai':
      // Nothing is kept at the server, so that the file is the only state.
      return { openai: { store: false, ...(thinks && { reasoningSummary: 'auto' }) } };
    case 'google':
      return thinks ? { google: { thinkingConfig: { includeThoughts: true } } } : undefined;
    default:
      return undefined;
  }
}

function toTool({ name, description, inputSchema }: ModelTool): LanguageModelV4FunctionTool {
  return {
    type: 'function',
    name,
    ...(description !== '' && { description }),
    // The providers take only schemas of objects.
    inputSchema: isRecord(inputSchema)
      ? { ...inputSchema, type: 'object' }
      : { type: 'object', properties: {} },
  };
}

/**
 * Anthropic caches up to a mark: after the tools and the system, which stay the same for a whole chat, and
 * after the last two messages of ours, so that the next request finds the mark of this one.
 */
function markForCache(prompt: LanguageModelV4Prompt, tools: LanguageModelV4FunctionTool[]): void {
  const head = prompt[0]?.role === 'system' ? prompt[0] : tools.at(-1);
  const ours = prompt.filter(({ role }) => role === 'user' || role === 'tool').slice(-2);
  for (const each of head === undefined ? ours : [head, ...ours]) each.providerOptions = CACHED;
}
