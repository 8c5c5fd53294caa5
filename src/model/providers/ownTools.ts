import type { LanguageModelV4ProviderTool } from '@ai-sdk/provider';
import type { OwnTool } from '../../ports/models.ts';
import type { ModelConfig } from '../config/models.ts';

type ToolIds = Partial<Record<OwnTool, LanguageModelV4ProviderTool['id']>>;

/** The tools that a provider runs itself. */
const TOOLS: Partial<Record<ModelConfig['provider'], ToolIds>> = {
  anthropic: {
    web_search: 'anthropic.web_search_20250305',
    code_execution: 'anthropic.code_execution_20250825',
  },
  openai: {
    web_search: 'openai.web_search',
    code_execution: 'openai.code_interpreter',
    image_generation: 'openai.image_generation',
  },
  google: { web_search: 'google.google_search', code_execution: 'google.code_execution' },
};

export function hasOwnTool({ provider }: Pick<ModelConfig, 'provider'>, tool: OwnTool): boolean {
  return TOOLS[provider]?.[tool] !== undefined;
}

export function ownTools(
  { provider }: Pick<ModelConfig, 'provider'>,
  wanted: readonly OwnTool[],
): readonly LanguageModelV4ProviderTool[] {
  return wanted.flatMap((tool) => {
    const id = TOOLS[provider]?.[tool];
    return id === undefined ? [] : [{ type: 'provider', id, name: tool, args: {} }];
  });
}
