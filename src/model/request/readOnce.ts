import type { AttachedFile, AttachmentSource } from '../../ports/document.ts';
import type { ChatModel } from '../../ports/models.ts';

export interface FileContext {
  /** The text of the chat. */
  readonly text: string;
  readonly attachments: AttachmentSource;
  readonly model: Pick<ChatModel, 'name' | 'accepts'>;
  readonly sendImages: 'auto' | 'always' | 'never';
  /** Whether a link leads to this chat's own assets. No other link in a tool turn is followed. */
  readonly isOwnAsset: (path: string) => boolean;
  /** Attached text is represented by its file, whose size is enough for an estimate. */
  readonly isEstimate?: boolean | undefined;
  readonly signal?: AbortSignal | undefined;
}

/** Keeps the bytes, so that every attempt at a request sends the same. */
export function readOnce(file: Pick<AttachedFile, 'read'>): AttachedFile['read'] {
  let bytes: Promise<Uint8Array> | undefined;
  return async (signal) => {
    bytes ??= file.read(signal);
    try {
      return await bytes;
    } catch (error) {
      bytes = undefined;
      throw error;
    }
  };
}
