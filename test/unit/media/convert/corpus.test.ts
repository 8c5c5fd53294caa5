/** Documents that real programs have made. The broken ones need the worker: test/integration/media/. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { loadReader } from '../../../../src/media/convert/documents/readers.ts';
import { documentReader, renderDocument } from '../../../../src/media/convert/documentText.ts';
import { mediaByExtension } from '../../../../src/media/table.ts';
import {
  allDocuments,
  missingText,
  OTHERS,
  REASONS,
  readDocumentFile,
  TEXTS,
} from '../../../documents/table.ts';

async function read(path: string): Promise<string> {
  const { ending, bytes } = readDocumentFile(path);
  const reader = documentReader(mediaByExtension(ending)?.types[0] ?? '');
  if (!reader) return Buffer.from(bytes).toString();
  const readDocument = await loadReader(reader);
  return renderDocument(await readDocument({ kind: 'document', bytes, reader }));
}

it('each document is in the table', () => {
  assert.deepEqual(
    allDocuments().toSorted(),
    [...Object.keys({ ...TEXTS, ...REASONS }), ...OTHERS].toSorted(),
  );
  assert.ok(allDocuments().length >= 40);
});

describe('the text of a document of a real program', () => {
  for (const [path, expected] of Object.entries(TEXTS)) {
    it(path, async () => {
      const text = await read(path);
      const missing = missingText(text, expected);
      assert.equal(missing, undefined, `${path} does not contain “${missing}” here:\n${text}`);
    });
  }
});
