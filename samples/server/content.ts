import type { CallToolResult } from '@modelcontextprotocol/sdk/types.js';

export type ContentBlock = CallToolResult['content'][number];

export function textBlock(text: string): ContentBlock {
  return { type: 'text', text };
}

export function imageBlock(mimeType: string, bytes: Uint8Array): ContentBlock {
  return { type: 'image', mimeType, data: toBase64(bytes) };
}

export function audioBlock(mimeType: string, bytes: Uint8Array): ContentBlock {
  return { type: 'audio', mimeType, data: toBase64(bytes) };
}

export function toBase64(bytes: Uint8Array): string {
  return Buffer.from(bytes).toString('base64');
}

/** None of these tools changes anything or leaves this machine. */
export const HARMLESS = { readOnlyHint: true, openWorldHint: false } as const;
