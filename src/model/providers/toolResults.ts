import type {
  LanguageModelV4Message,
  LanguageModelV4ToolResultOutput,
  LanguageModelV4ToolResultPart,
} from '@ai-sdk/provider';
import type { CallResult, FilePart } from '../../ports.ts';
import { describeUnsent, toFile, toWireId } from './parts.ts';
import type { PromptOptions } from './prompt.ts';
import { IMAGES } from './wire.ts';

type UserContent = Extract<LanguageModelV4Message, { role: 'user' }>['content'];
type ResultPiece = { readonly text: string } | { readonly image: FilePart };

const ERROR_LEAD = 'The tool reported an error:';

/**
 * The results of one step. Where a result cannot hold an image, the images come in one message of the user's
 * right after the results: as base64 in a text they would cost a fortune and show nothing.
 */
export function toToolMessages(
  results: readonly CallResult[],
  options: PromptOptions,
): readonly LanguageModelV4Message[] {
  const native = options.wire.takesImagesInResults(options.model);
  const content = results.map(
    (result): LanguageModelV4ToolResultPart => ({
      type: 'tool-result',
      toolCallId: toWireId(result.id),
      toolName: result.name,
      output: native ? toOutput(result, options) : toTextOutput(result, options),
    }),
  );
  const images = native ? [] : results.flatMap((result) => toImageParts(result, options));
  const messages: LanguageModelV4Message[] = [{ role: 'tool', content }];
  // A single image needs no label: the result says that it follows.
  const isOne = images.filter((part) => part.type === 'file').length === 1;
  const shown = isOne ? images.filter((part) => part.type === 'file') : images;
  if (shown.length > 0) messages.push({ role: 'user', content: shown });
  return messages;
}

function toOutput(result: CallResult, options: PromptOptions): LanguageModelV4ToolResultOutput {
  const pieces = piecesOf(result);
  if (pieces.every((piece) => 'text' in piece)) return toTextOutput(result, options);
  // An output with images has no way to say that it is an error.
  const lead = result.isError ? [{ type: 'text' as const, text: ERROR_LEAD }] : [];
  const value = pieces.map((piece) =>
    'text' in piece ? { type: 'text' as const, text: piece.text } : toFile(piece.image, options.bytes),
  );
  return { type: 'content', value: [...lead, ...value] };
}

function toTextOutput(result: CallResult, { wire }: PromptOptions): LanguageModelV4ToolResultOutput {
  let images = 0;
  const lines = piecesOf(result).map((piece) => {
    if ('text' in piece) return piece.text;
    images += 1;
    return `[image ${images}: see the next message]`;
  });
  const value = lines.length === 0 ? '(no content)' : lines.join('\n\n');
  if (!result.isError) return { type: 'text', value };
  return wire.errors === 'marked'
    ? { type: 'error-text', value }
    : { type: 'text', value: `${ERROR_LEAD}\n\n${value}` };
}

function toImageParts(result: CallResult, { bytes }: PromptOptions): UserContent {
  const images = piecesOf(result).flatMap((piece) => ('image' in piece ? [piece.image] : []));
  return images.flatMap((image, index) => [
    {
      type: 'text',
      text: `Image ${index + 1} of the result of ${result.name} (call ${toWireId(result.id)}):`,
    },
    toFile(image, bytes),
  ]);
}

function piecesOf({ parts }: CallResult): readonly ResultPiece[] {
  return parts.flatMap((part): readonly ResultPiece[] => {
    if (part.kind === 'text') return part.text.trim() === '' ? [] : [{ text: part.text }];
    return IMAGES.includes(part.mimeType) ? [{ image: part }] : [{ text: describeUnsent(part) }];
  });
}
