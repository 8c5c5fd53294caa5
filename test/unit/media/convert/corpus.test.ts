/** Documents that real programs have made, each read in the worker. */
import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { documentReader, renderDocument } from '../../../../src/media/convert/documentText.ts';
import { runJob } from '../../../../src/media/convert/runJob.ts';
import { mediaByExtension } from '../../../../src/media/table.ts';
import {
  allDocuments,
  missingText,
  OTHERS,
  REASONS,
  readDocumentFile,
  TEXTS,
} from '../../../documents/table.ts';

/** For documents that must be read, however busy the machine is. */
const LONG_MS = 60_000;

async function read(path: string, deadlineMs?: number): Promise<string> {
  const { ending, bytes } = readDocumentFile(path);
  const reader = documentReader(mediaByExtension(ending)?.types[0] ?? '');
  if (!reader) return Buffer.from(bytes).toString();
  const outcome = await runJob({ kind: 'document', bytes, reader }, undefined, deadlineMs);
  if (outcome.kind === 'failed') return outcome.reason;
  return outcome.kind === 'document' ? renderDocument(outcome.document) : assert.fail();
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
      const text = await read(path, LONG_MS);
      const missing = missingText(text, expected);
      assert.equal(missing, undefined, `${path} does not contain “${missing}” here:\n${text}`);
    });
  }
});

describe('a broken or hostile document ends with a reason', () => {
  for (const [path, reason] of Object.entries(REASONS)) {
    it(path, async () => assert.match(await read(path), reason));
  }
});
