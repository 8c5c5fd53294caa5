import type { ToolResultContent } from '../../src/content/index.ts';

export function textBlock(text: string): ToolResultContent {
  return { type: 'text', text };
}

/** None of these tools changes anything or leaves this machine. */
export const HARMLESS = { readOnlyHint: true, openWorldHint: false } as const;
