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
import { filesOf } from './messages.ts';

/** In tokens. `attachments` are files; attached text is part of the history. */
export function estimateRequest({ system, messages, tools }: ModelRequest) {
  const parts = {
    system: estimateTokenCount(system),
    history: sum(messages.map(estimateMessage)),
    tools: sum(tools.map(estimateTool)),
    attachments: sum(messages.flatMap(filesOf).map(estimateFile)),
  };
  return { total: parts.system + parts.history + parts.tools + parts.attachments, ...parts };
}

/** Counts the text of a part; a file counts as 0. */
export function estimatePart(part: ContentPart | AssistantPart): number {
  return estimateTokenCount(textOf(part));
}

const MIN_FACTOR = 0.5;
const MAX_FACTOR = 2.5;

/** The factor for the next estimate, from the last actual count, within limits. */
export function calibrate(estimate: number, actual: number | undefined): number {
  if (actual === undefined || !(actual > 0) || !(estimate > 0)) return 1;
  return Math.min(MAX_FACTOR, Math.max(MIN_FACTOR, actual / estimate));
}

/** The overhead of a message or a tool. */
const FRAME_TOKENS = 4;

function estimateMessage(message: ModelMessage): number {
  const parts = message.role === 'tool' ? message.results.flatMap((result) => result.parts) : message.parts;
  return FRAME_TOKENS + sum(parts.map(estimatePart));
}

function textOf(part: ContentPart | AssistantPart): string {
  if (part.kind === 'call') return `${part.name} ${JSON.stringify(part.arguments)}`;
  return part.kind === 'file' ? '' : part.text;
}

export function estimateTool({ name, description, inputSchema }: ModelTool): number {
  return FRAME_TOKENS + estimateTokenCount(`${name} ${description} ${JSON.stringify(inputSchema)}`);
}

/** Providers count pixels up to a limit; the size in bytes is a hint. */
const IMAGE_TOKENS: readonly { readonly upToBytes: number; readonly tokens: number }[] = [
  { upToBytes: 20_000, tokens: 400 },
  { upToBytes: 150_000, tokens: 900 },
  { upToBytes: Number.POSITIVE_INFINITY, tokens: 1500 },
];
/** Longer text is cut before it is sent. */
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
