import { estimateTokenCount } from 'tokenx';
import { CHARS_PER_TOKEN } from '../../base/size.ts';
import type {
  AssistantPart,
  ContentPart,
  FilePart,
  ModelMessage,
  ModelRequest,
  ModelTool,
} from '../../ports/models.ts';

/** In tokens, roughly. `attachments` are files; text that was attached is part of the history. */
export interface RequestEstimate {
  readonly total: number;
  readonly system: number;
  readonly history: number;
  readonly tools: number;
  readonly attachments: number;
}

export function estimateRequest({ system, messages, tools }: ModelRequest): RequestEstimate {
  const files = messages.flatMap(filesOf);
  const parts = {
    system: estimateSystem({ system }),
    history: sum(messages.map(estimateMessage)),
    tools: sum(tools.map(estimateTool)),
    attachments: sum(files.map(estimateFile)),
  };
  return { total: parts.system + parts.history + parts.tools + parts.attachments, ...parts };
}

export function estimateSystem({ system }: Pick<ModelRequest, 'system'>): number {
  return estimateTokenCount(system);
}

/** The words of a part, without the bytes of a file. */
export function estimatePart(part: ContentPart | AssistantPart): number {
  return estimateTokenCount(wordsOf(part));
}

const MIN_FACTOR = 0.5;
const MAX_FACTOR = 2.5;

/** By how much the next estimate should be multiplied, from the last real count. A wild one is not believed. */
export function calibrate(estimate: number, actual: number | undefined): number {
  if (actual === undefined || !(actual > 0) || !(estimate > 0)) return 1;
  return Math.min(MAX_FACTOR, Math.max(MIN_FACTOR, actual / estimate));
}

/** What the frame of a message or a call takes beside its text. */
const FRAME_TOKENS = 4;

function estimateMessage(message: ModelMessage): number {
  return FRAME_TOKENS + sum(textsOf(message).map((text) => estimateTokenCount(text)));
}

function textsOf(message: ModelMessage): readonly string[] {
  switch (message.role) {
    case 'user':
    case 'assistant':
      return message.parts.map(wordsOf);
    case 'tool':
      return message.results.flatMap((result) => result.parts.map(wordsOf));
  }
}

function wordsOf(part: ContentPart | AssistantPart): string {
  if (part.kind === 'call') return `${part.name} ${JSON.stringify(part.arguments)}`;
  return part.kind === 'file' ? '' : part.text;
}

function filesOf(message: ModelMessage): readonly FilePart[] {
  const parts =
    message.role === 'user'
      ? message.parts
      : message.role === 'tool'
        ? message.results.flatMap((result) => result.parts)
        : [];
  return parts.filter((part) => part.kind === 'file');
}

export function estimateTool({ name, description, inputSchema }: ModelTool): number {
  return FRAME_TOKENS + estimateTokenCount(`${name} ${description} ${JSON.stringify(inputSchema)}`);
}

/** Providers count an image by its pixels, of which the size in bytes is a hint, up to a limit. */
const IMAGE_TOKENS: readonly { readonly upToBytes: number; readonly tokens: number }[] = [
  { upToBytes: 20_000, tokens: 400 },
  { upToBytes: 150_000, tokens: 900 },
  { upToBytes: Number.POSITIVE_INFINITY, tokens: 1500 },
];
/** More of a text is not sent. */
const MAX_TEXT_BYTES = 400_000;
const PDF_PAGE_BYTES = 60_000;
const PDF_PAGE_TOKENS = 2000;
const AUDIO_BYTES_PER_TOKEN = 500;

export function estimateFile({ mimeType, size }: Pick<FilePart, 'mimeType' | 'size'>): number {
  if (mimeType.startsWith('image/')) {
    return IMAGE_TOKENS.find(({ upToBytes }) => size <= upToBytes)?.tokens ?? 0;
  }
  if (mimeType.startsWith('text/')) return Math.ceil(Math.min(size, MAX_TEXT_BYTES) / CHARS_PER_TOKEN);
  if (mimeType === 'application/pdf') return Math.ceil(size / PDF_PAGE_BYTES) * PDF_PAGE_TOKENS;
  return Math.ceil(size / AUDIO_BYTES_PER_TOKEN);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, each) => total + each, 0);
}
