import { decodeOtherText } from '../../../base/encodings.ts';
import { decodeUtf8 } from '../../../base/lines.ts';
import { ConversionError, type DocumentJob, type DocumentText } from '../job.ts';

/** Text in any encoding, such as a table that an older program wrote. */
export function readPlain({ bytes }: DocumentJob): DocumentText {
  const text = decodeUtf8(bytes) ?? decodeOtherText(bytes);
  if (text === undefined) throw new ConversionError('it is not text');
  return { sections: [{ text }] };
}
