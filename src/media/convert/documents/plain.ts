import { decodeOtherText, isEncodingUnknown } from '../../../base/encodings.ts';
import { decodeUtf8 } from '../../../base/lines.ts';
import { ConversionError, type DocumentJob, type DocumentText } from '../job.ts';

/** Text in any encoding, such as a table that an older program wrote. */
export function readPlain({ bytes }: DocumentJob): DocumentText {
  const utf8 = decodeUtf8(bytes);
  const text = utf8 ?? decodeOtherText(bytes);
  if (text === undefined) throw new ConversionError('it is not text');
  const note = utf8 === undefined && isEncodingUnknown(bytes) ? [{ text: UNKNOWN_ENCODING }] : [];
  return { sections: [...note, { text }] };
}

const UNKNOWN_ENCODING =
  '[The encoding of this file is unknown. It was read as Windows-1252, and its letters may be wrong.]';
