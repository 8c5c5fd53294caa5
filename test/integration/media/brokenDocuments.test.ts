import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { documentReader } from '../../../src/media/convert/documentText.ts';
import { runJob } from '../../../src/media/convert/runJob.ts';
import { mediaByExtension } from '../../../src/media/table.ts';
import { REASONS, readDocumentFile } from '../../documents/table.ts';

describe('a broken or hostile document ends with a reason', () => {
  for (const [path, expected] of Object.entries(REASONS)) {
    it(path, async () => {
      const { ending, bytes } = readDocumentFile(path);
      const reader = documentReader(mediaByExtension(ending)?.types[0] ?? '');
      if (!reader) return assert.fail(`${path} cannot be read`);
      const outcome = await runJob({ kind: 'document', bytes, reader });
      assert.match(outcome.kind === 'failed' ? outcome.reason : outcome.kind, expected);
    });
  }
});
