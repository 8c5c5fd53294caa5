import assert from 'node:assert/strict';
import { randomBytes } from 'node:crypto';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { hexView, readText, type ShownWindow, windowParts } from '../../../../src/catalog/tools/texts.ts';
import type { FileWindow } from '../../../../src/catalog/windows.ts';
import type { ResultPart } from '../../../../src/ports/results.ts';
import { readToolResult, renderToolResult } from '../../../../src/result/markdown.ts';
import { toModelParts } from '../../../../src/result/modelView.ts';
import { anySign } from '../../../kit/anySign.ts';

const PNG = 'tool-image-20261116-093012-V1StGXR8a0-1.png';

function ofText(text: string, more: Partial<ShownWindow> = {}): ShownWindow {
  const byteCount = Buffer.byteLength(text);
  const body = { kind: 'text', text } as const;
  const window: FileWindow = { mimeType: 'text/plain', totalBytes: byteCount, start: 0, byteCount, body };
  return { reference: 'asset:a.txt', about: 'All of it.', window, ...more };
}

function ofBytes(bytes: Uint8Array, more: Partial<ShownWindow> = {}): ShownWindow {
  const body = { kind: 'bytes', bytes } as const;
  const byteCount = bytes.length;
  const window: FileWindow = { mimeType: 'application/pdf', totalBytes: 9999, start: 32, byteCount, body };
  return { reference: 'asset:a.pdf', about: 'Some of it.', window, ...more };
}

const readBack = (parts: readonly ResultPart[]) =>
  readToolResult(renderToolResult({ isError: false, parts }));

describe('a window of text', () => {
  it('is written into the chat so that it reads back exactly, with its source', async () => {
    await fc.assert(
      fc.asyncProperty(fc.string({ unit: anySign, maxLength: 200 }), async (any) => {
        const text = any.replaceAll('\r\n', '\n').toWellFormed();
        const parts = await windowParts(ofText(text));
        assert.deepEqual(readBack(parts).parts, parts);
        assert.deepEqual(parts.at(-1), {
          kind: 'text',
          text,
          source: { uri: 'asset:a.txt', mimeType: 'text/plain' },
        });
      }),
    );
  });

  const special = [
    '',
    '\n',
    '```\n# %% user\nhi\n',
    'a\r',
    '> From `x`\n',
    '<!-- next block -->',
    '\u202e⟦U+202E⟧',
  ];
  for (const text of special) {
    it(`also ${JSON.stringify(text)}`, async () => {
      const parts = await windowParts(ofText(text));
      assert.deepEqual(readBack(parts).parts, parts);
      assert.equal(parts.at(-1)?.kind === 'text' && parts.at(-1), parts[1]);
    });
  }

  it('of a file from Windows has the line ends that a chat can keep', async () => {
    const [, part] = await windowParts(ofText('one\r\ntwo\r\n'));
    assert.equal(part?.kind === 'text' && part.text, 'one\ntwo\n');
  });

  it('of any length is not saved as a new file, and the model gets all of it', async () => {
    const text = 'A line of forty characters, more or less\n'.repeat(800);
    const views = toModelParts(
      { isError: false, parts: await windowParts(ofText(text)) },
      { about: () => undefined },
    );
    assert.deepEqual(
      views.map((view) => view.kind === 'text' && view.text),
      ['All of it.', `From asset:a.txt:\n${text}`],
    );
  });

  it('has no base64 in it, wherever the window begins', async () => {
    const base64 = randomBytes(3000).toString('base64');
    const lines = base64.replace(/.{76}/g, '$&\n');
    for (const hidden of [base64, base64.slice(1, -1), lines, `data:image/png;base64,${base64}`]) {
      const [about, part] = await windowParts(ofText(`{"picture": "${hidden}"}\nand words`));
      assert.ok(part?.kind === 'text');
      assert.match(part.text, /^\{"picture": "\[\d+ characters of base64\]"\}\nand words$/);
      assert.match(about?.kind === 'text' ? about.text : '', /as: "bytes"/);
    }
  });

  it('keeps words, numbers and sums of any usual length', async () => {
    const text = [
      'a'.repeat(5000),
      '0123456789abcdef'.repeat(100),
      randomBytes(48).toString('base64'),
      'GATTACA'.repeat(300),
      '/home/Somebody/2026/Projects/'.repeat(5),
    ].join(' ');
    const [, part] = await windowParts(ofText(text));
    assert.equal(part?.kind === 'text' && part.text, text);
  });
});

describe('a window of bytes', () => {
  it('is digits and letters, with how to give the file to a tool, and reads back exactly', async () => {
    const parts = await windowParts(ofBytes(Buffer.from('%PDF-1.7\n\0\u00ff', 'latin1')));
    assert.deepEqual(parts, [
      { kind: 'text', text: 'Some of it. To give the file to a tool, write asset:a.pdf as the argument.' },
      { kind: 'text', text: '00000020  25 50 44 46 2d 31 2e 37  0a 00 ff                 |%PDF-1.7...|' },
    ]);
    assert.deepEqual(readBack(parts).parts, parts);
  });

  it('of a file in another folder promises nothing that does not work', async () => {
    const [about] = await windowParts(ofBytes(Buffer.from([1]), { reference: 'filechat://a.chat.md/a.pdf' }));
    assert.deepEqual(about, { kind: 'text', text: 'Some of it.' });
  });
});

describe('an image', () => {
  const image = { kind: 'image', number: 1, path: `cmdassets/${PNG}` } as const;

  it('beside the chat is a link to the file that is there, and reaches the model as an image', async () => {
    const parts = await windowParts(ofBytes(new Uint8Array(10), { asset: image }));
    assert.deepEqual(parts.at(-1), { kind: 'asset', asset: image });
    assert.match(
      renderToolResult({ isError: false, parts }),
      /^application\/pdf, 10\.0 KB\.\n\n!\[Tool generated image 1\]\(cmdassets\/tool-image-/,
    );
    assert.deepEqual(readBack(parts).parts, parts);
    const views = toModelParts(
      { isError: false, parts },
      { about: () => ({ size: 10, mimeType: 'image/png' }) },
    );
    assert.deepEqual(views.at(-1), { kind: 'image', path: image.path, mimeType: 'image/png' });
  });

  it('of another folder is described, and nothing links to it', async () => {
    const parts = await windowParts(ofBytes(new Uint8Array(10), { isForeign: true }));
    assert.equal(parts.length, 1);
    assert.doesNotMatch(renderToolResult({ isError: false, parts }), /\]\(/);
  });
});

/** The bytes that a view shows, by its digits alone. */
function bytesOf(view: string): readonly number[] {
  return view.split('\n').flatMap((line) =>
    line
      .slice(line.indexOf(' '), line.indexOf('|'))
      .trim()
      .split(/\s+/)
      .filter((each) => each !== '')
      .map((each) => Number.parseInt(each, 16)),
  );
}

describe('bytes as digits and letters', () => {
  it('sixteen a line, with where they are in the file', () => {
    const bytes = Buffer.from('%PDF-1.4\n%âãÏÓ\nobj', 'latin1');
    assert.equal(
      hexView(bytes, 4096),
      [
        '00001000  25 50 44 46 2d 31 2e 34  0a 25 e2 e3 cf d3 0a 6f  |%PDF-1.4.%.....o|',
        '00001010  62 6a                                             |bj|',
      ].join('\n'),
    );
  });

  it('nothing of nothing', () => {
    assert.equal(hexView(new Uint8Array(), 0), '');
  });

  it('an offset beyond 4 GiB is whole', () => {
    assert.match(hexView(new Uint8Array([0]), 0x1_2345_6789), /^123456789 {2}00 /);
  });

  it('shows every byte once, in order, in printable letters only', () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 100 }), fc.nat(), (bytes, start) => {
        const view = hexView(bytes, start);
        assert.deepEqual(bytesOf(view), [...bytes]);
        assert.match(view, /^[\x20-\x7e\n]*$/);
        assert.equal(view === '' ? 0 : view.split('\n').length, Math.ceil(bytes.length / 16));
      }),
    );
  });
});

describe('what is said about a read file', () => {
  const window = {
    uri: 'asset:a.pdf',
    name: 'a.pdf',
    mimeType: 'text/markdown',
    documentType: 'application/pdf',
    totalBytes: 10,
    start: 0,
    byteCount: 10,
    content: 'text',
    lastModified: '2026-11-18T09:30:12.000Z',
    estimatedTokens: 3,
    autoReadSafe: true,
    largeFileWarning: false,
  } as const;

  it('names a document that was read to its end', () => {
    assert.equal(
      readText(window, { pages: '2 pages' }),
      'All of the text of a.pdf (application/pdf, 2 pages, 10 bytes).',
    );
  });

  it('does not call a document whole that was cut, and says how to go on', () => {
    assert.equal(
      readText(window, { pages: '9 pages', cut: 'Continue with pages "3-".' }),
      'A part of the text of a.pdf (application/pdf, 9 pages, 10 bytes). Continue with pages "3-".',
    );
  });
});
