import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import {
  countPages,
  documentReader,
  renderDocument,
  selectText,
} from '../../../../src/media/convert/documentText.ts';
import type { DocumentText } from '../../../../src/media/convert/job.ts';

const BOOK: DocumentText = {
  unit: 'sheet',
  total: 3,
  sections: [
    { number: 1, title: 'A', text: 'aaaa' },
    { number: 2, title: 'B', text: '' },
    { number: 3, text: 'cccc' },
  ],
};

describe('the text of a document', () => {
  it('has a heading for each page', () => {
    assert.equal(renderDocument(BOOK), '## Sheet 1: A\n\naaaa\n\n## Sheet 2: B\n\n## Sheet 3\n\ncccc');
    assert.equal(renderDocument({ sections: [{ text: 'plain' }] }), 'plain');
  });

  it('is that of the chosen pages', () => {
    assert.equal(renderDocument(selectText(BOOK, [{ first: 3 }])), '## Sheet 3\n\ncccc');
  });

  it('that is too long is cut, and says so', () => {
    assert.match(
      renderDocument(selectText(BOOK, undefined, 6)),
      /cc\n\n\[Cut at sheet 3 of 3: there is more\.\]$/,
    );
    assert.match(renderDocument(selectText(BOOK, undefined, 4)), /aaaa\n\n\[Cut at sheet 1 of 3/);
    assert.equal(selectText(BOOK, undefined, 8).isCut, undefined);
    const plain = selectText({ sections: [{ text: 'abc' }] }, undefined, 2);
    assert.equal(renderDocument(plain), 'ab\n\n[Cut: there is more.]');
  });
});

it('pages are counted in their own word', () => {
  assert.deepEqual(
    [countPages(BOOK), countPages({ unit: 'page', total: 1 }), countPages({})],
    ['3 sheets', '1 page', undefined],
  );
});

it('only documents and text have a reader', () => {
  assert.equal(documentReader('application/pdf'), 'pdf');
  assert.equal(documentReader('application/x-zip-compressed'), 'zip');
  for (const type of ['text/plain', 'text/csv']) assert.equal(documentReader(type), 'plain', type);
  for (const type of ['image/png', 'constructor']) assert.equal(documentReader(type), undefined, type);
});
