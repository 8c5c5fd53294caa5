import type { ContentOptions } from './types.ts';

/** Above this there is a warning: many clients do not take longer messages. */
export const MAX_SAFE_SIZE: number = 10 * 1024 * 1024;
/** Above this there is an error, unless `maxBytes` says otherwise. */
export const MAX_SIZE: number = 50 * 1024 * 1024;

export type Limits = Pick<ContentOptions, 'maxBytes' | 'onWarning'>;

/** Asked with the size alone, before anything is read, decoded or encoded. */
export function checkSize(byteCount: number, { maxBytes = MAX_SIZE, onWarning }: Limits): void {
  if (byteCount === 0) throw new Error('Cannot convert empty buffer: there is nothing in it to send.');
  if (byteCount > maxBytes)
    throw new Error(
      `File too large: ${byteCount} bytes (max: ${maxBytes}). Consider reducing image quality or splitting into smaller files.`,
    );
  if (byteCount > MAX_SAFE_SIZE)
    onWarning?.(`Large file detected: ${byteCount} bytes. Consider streaming or chunking.`);
}
