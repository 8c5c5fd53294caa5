import { readAssetName } from '../../base/assetNames.ts';
import { describeSize } from '../../base/size.ts';
import { documentReader, MAX_DOCUMENT_BYTES } from '../../media/convert/documentText.ts';
import type { DocumentReader } from '../../media/convert/job.ts';
import { isSendableImage, MAX_SCALED_BYTES, SENT_TYPES } from '../../media/imageLimits.ts';
import type { AttachedFile } from '../../ports/document.ts';
import type { ChatModel } from '../../ports/models.ts';

/** About 27 MB as base64; the strictest provider accepts requests of 32 MB. */
export const MAX_FILE_BYTES = 20_000_000;

/** How a model gets a file: as such, as its text, as the text of a document, or only its name. */
type SentForm =
  | { readonly kind: 'file' | 'text' }
  | { readonly kind: 'document'; readonly reader: DocumentReader }
  | { readonly kind: 'named'; readonly reason: string };

export function sentAs(
  { name, mimeType, size, isText }: Pick<AttachedFile, 'name' | 'mimeType' | 'size' | 'isText'>,
  model: Pick<ChatModel, 'name' | 'accepts'>,
): SentForm {
  const reader = documentReader(mimeType);
  const isReadable = reader !== undefined && size > 0 && size <= MAX_DOCUMENT_BYTES;
  // Of a page that was fetched, the words count; of a file of the user's, perhaps the source.
  const isSource = reader === 'plain' || (reader === 'html' && !readAssetName(name));
  if (isText && (!isReadable || isSource)) return { kind: 'text' };
  const isFile = mimeType === 'application/pdf' || /^(?:audio|image)\//.test(mimeType);
  const maxBytes = isSendableImage(mimeType) ? MAX_SCALED_BYTES : MAX_FILE_BYTES;
  const isAccepted = isFile && acceptsFile(model, mimeType);
  if (isAccepted && size > 0 && size <= maxBytes) return { kind: 'file' };
  if (isReadable) return { kind: 'document', reader };
  if (!isAccepted) return { kind: 'named', reason: `${model.name} does not accept ${mimeType}` };
  const reason = `it has ${describeSize(size)}, and at most ${describeSize(maxBytes)} are sent`;
  return { kind: 'named', reason: size === 0 ? 'it is empty' : reason };
}

/** Other images are converted to one of the types that all models accept. */
export function acceptsFile(model: Pick<ChatModel, 'accepts'>, mimeType: string): boolean {
  const isConverted = isSendableImage(mimeType) && !SENT_TYPES.has(mimeType);
  return model.accepts(isConverted ? 'image/png' : mimeType);
}
