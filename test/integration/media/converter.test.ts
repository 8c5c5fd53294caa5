import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { describe, it } from 'node:test';
import { PhotonImage } from '@cf-wasm/photon/others';
import { Converter, unsendableReason } from '../../../src/media/convert/converter.ts';
import { loadPhoton, turnPixels } from '../../../src/media/convert/image.ts';
import type { DocumentReader } from '../../../src/media/convert/job.ts';
import { runJob } from '../../../src/media/convert/runJob.ts';
import { imageLimits } from '../../../src/media/imageLimits.ts';
import { imageSize } from '../../../src/media/measure.ts';
import {
  makeBmp,
  makeDocx,
  makeEncryptedPdf,
  makeEpub,
  makeOdt,
  makePdf,
  makePng,
  makePptx,
  makeSlowPdf,
  makeXlsx,
  makeZipBomb,
  withOrientation,
  zipTexts,
} from '../../kit/documents.ts';

const converter = new Converter();

async function read(reader: DocumentReader, bytes: Uint8Array, pages?: readonly { first: number }[]) {
  const outcome = await converter.readDocument({ bytes, reader, pages });
  return outcome.kind === 'failed' ? outcome.reason : outcome.document;
}

async function textOf(reader: DocumentReader, bytes: Uint8Array | string): Promise<string> {
  const document = await read(reader, typeof bytes === 'string' ? Buffer.from(bytes) : bytes);
  return typeof document === 'string' ? document : document.sections.map(({ text }) => text).join('\n');
}

describe('documents', () => {
  it('in PDF are read page by page', async () => {
    const bytes = makePdf('First page', 'Second page', 'Third page');
    assert.deepEqual(await read('pdf', bytes), {
      unit: 'page',
      total: 3,
      sections: [
        { number: 1, text: 'First page' },
        { number: 2, text: 'Second page' },
        { number: 3, text: 'Third page' },
      ],
    });
    assert.deepEqual(await read('pdf', bytes, [{ first: 3 }]), {
      unit: 'page',
      total: 3,
      sections: [{ number: 3, text: 'Third page' }],
    });
  });

  it('in Word keep headings and tables', async () => {
    const bytes = makeDocx('Report', 'Sales & more', ['Quarter', 'Amount'], ['Q1', '5']);
    assert.equal(
      (await textOf('office', bytes)).replace(/\n+/g, '\n'),
      '# Report\nSales & more\n| Quarter | Amount |\n| --- | --- |\n| Q1 | 5 |',
    );
  });

  it('in PowerPoint are read slide by slide', async () => {
    assert.deepEqual(await read('office', makePptx('Welcome', 'Goodbye')), {
      unit: 'slide',
      total: 2,
      sections: [
        { number: 1, text: 'Welcome' },
        { number: 2, text: 'Goodbye' },
      ],
    });
  });

  it('in OpenDocument are read', async () => {
    assert.equal(await textOf('office', makeOdt('Title', 'Body')), '# Title\n\nBody');
  });

  it('in EPUB are read in the order of the chapters', async () => {
    const text = await textOf('office', makeEpub('Book', 'It began.', 'It ended.'));
    assert.match(text, /# Chapter 1\n\nIt began\.\n\n# Chapter 2\n\nIt ended\./);
  });

  it('in Excel are CSV by sheet, with dates as dates', async () => {
    const bytes = await makeXlsx({
      Sales: [
        ['Quarter', 'When', 'Note'],
        ['Q1', new Date(Date.UTC(2026, 0, 15)), 'a "b", c'],
        ['Q2', 5.25, ''],
      ],
      Empty: [],
    });
    assert.deepEqual(await read('sheet', bytes), {
      unit: 'sheet',
      total: 2,
      sections: [
        { number: 1, title: 'Sales', text: 'Quarter,When,Note\nQ1,2026-01-15,"a ""b"", c"\nQ2,5.25' },
        { number: 2, title: 'Empty', text: '' },
      ],
    });
  });

  it('in HTML become Markdown without scripts and embedded data', async () => {
    const html =
      '<script>steal()</script><h1>Hi</h1><p>a <b>b</b></p><img alt="x" src="data:image/png;base64,AAAA">';
    assert.equal(await textOf('html', html), '# Hi\n\na **b**\n\n![x](data:)');
    assert.equal(await textOf('html', '<p>a <font face="x">b</font> <span>c</span></p>'), 'a b c');
  });

  it('of Jupyter are texts, code and outputs without images', async () => {
    const notebook = {
      metadata: { kernelspec: { language: 'python' } },
      cells: [
        { cell_type: 'markdown', source: ['# Plot\n', 'of sales'] },
        {
          cell_type: 'code',
          source: 'print(1)',
          outputs: [
            { output_type: 'stream', text: ['1\n'] },
            { output_type: 'display_data', data: { 'image/png': 'iVBORw0KGgo=', 'text/plain': '<Figure>' } },
            { output_type: 'error', ename: 'NameError', evalue: 'x' },
          ],
        },
      ],
    };
    assert.equal(
      await textOf('notebook', JSON.stringify(notebook)),
      '# Plot\nof sales\n\n```python\nprint(1)\n```\n\n```text\n1\n```\n\n```text\n<Figure>\n```\n\n[output: image/png]\n\n```text\nNameError: x\n```',
    );
  });

  it('that are e-mails have headers, text and the names of attachments', async () => {
    const mail = [
      'From: =?utf-8?Q?Ren=C3=A9?= <rene@example.com>',
      'Subject: =?utf-8?B?w5xiZXI=?=',
      ' all',
      'Received: by nobody',
      'Content-Type: multipart/mixed; boundary="b1"',
      '',
      'preamble',
      '--b1',
      'Content-Type: multipart/alternative; boundary=b2',
      '',
      '--b2',
      'Content-Type: text/plain; charset=utf-8',
      'Content-Transfer-Encoding: quoted-printable',
      '',
      'Caf=C3=A9 at no=',
      'on',
      '--b2',
      'Content-Type: text/html',
      '',
      '<p>Café</p>',
      '--b2--',
      '--b1',
      'Content-Type: application/pdf; name="bill.pdf"',
      'Content-Disposition: attachment; filename="bill.pdf"',
      'Content-Transfer-Encoding: base64',
      '',
      'JVBERi0xLjQ=',
      '--b1--',
    ].join('\r\n');
    assert.equal(
      await textOf('mail', mail),
      'From: René <rene@example.com>\nSubject: Über all\n\nCafé at noon\n\nAttachments:\n- bill.pdf (application/pdf, 8 bytes)',
    );
  });

  it('in ZIP are listed and not inflated', async () => {
    const bytes = zipTexts({ 'a.txt': 'hello', 'folder/b.csv': '1,2' });
    assert.equal(
      await textOf('zip', bytes),
      '2 files, 8 bytes uncompressed:\n- a.txt (5 bytes)\n- folder/b.csv (3 bytes)',
    );
  });
});

describe('a broken or hostile document ends with one line', () => {
  const cases: readonly (readonly [
    what: string,
    reader: DocumentReader,
    bytes: () => Uint8Array,
    reason: RegExp,
  ])[] = [
    ['a PDF that is no PDF', 'pdf', () => Buffer.from('%PDF-1.7 nothing'), /^it is damaged \(/],
    ['an encrypted PDF', 'pdf', makeEncryptedPdf, /^it is protected by a password$/],
    ['a Word file that is no ZIP', 'office', () => Buffer.from('PK nothing'), /^it is damaged \(/],
    [
      'a Word file that inflates to 120 MB',
      'office',
      makeZipBomb,
      /^it would inflate to 120\.0 MB, and at most 100\.0 MB are read$/,
    ],
    ['an Excel file that inflates to 120 MB', 'sheet', makeZipBomb, /^it would inflate to 120\.0 MB/],
    ['a ZIP without files of a sheet', 'sheet', () => zipTexts({ a: 'b' }), /^it is damaged \(/],
    ['a cut notebook', 'notebook', () => Buffer.from('{"cells": ['), /^it is damaged \(/],
    ['a notebook without cells', 'notebook', () => Buffer.from('{}'), /^it has no cells$/],
    ['a cut ZIP', 'zip', () => zipTexts({ a: 'b' }).subarray(0, 20), /^it is damaged \(/],
  ];
  for (const [what, reader, bytes, reason] of cases) {
    it(what, async () => {
      const text = await read(reader, bytes());
      assert.ok(typeof text === 'string', JSON.stringify(text).slice(0, 200));
      assert.match(text, reason);
      assert.ok(!text.includes('\n') && text.length < 250);
    });
  }

  it('a PDF that takes for ever', async () => {
    const job = { kind: 'document', reader: 'pdf', bytes: makeSlowPdf() } as const;
    assert.deepEqual(await runJob(job, undefined, 500), {
      kind: 'failed',
      reason: 'it could not be read within 0.5 s',
    });
  });

  it('and the next one is read', async () => {
    assert.equal(await textOf('html', '<p>fine</p>'), 'fine');
  });
});

describe('images', () => {
  const limits = imageLimits('anthropic');

  async function fitted(bytes: Uint8Array, mimeType = 'image/png', maxBytes = limits.maxBytes) {
    const made = await converter.fitImage(bytes, mimeType, { ...limits, maxBytes });
    if (made.kind !== 'images') return made;
    return made.images.map((image) => ({ ...image, ...imageSize(image.bytes) }));
  }

  it('that fit are kept without a worker', async () => {
    assert.deepEqual(await fitted(makePng(300, 200)), { kind: 'keep' });
  });

  it('that are too wide are scaled', async () => {
    const [image, ...more] = listed(await fitted(makePng(2352, 1500)));
    assert.deepEqual([image?.width, image?.height, image?.mimeType, more], [1568, 1000, 'image/png', []]);
  });

  it('that are very tall become slices in order', async () => {
    const images = listed(await fitted(makePng(400, 4000)));
    assert.deepEqual(
      images.map(({ width, height }) => [width, height]),
      [
        [400, 1360],
        [400, 1360],
        [400, 1360],
      ],
    );
  });

  it('in BMP become PNG', async () => {
    const [image] = listed(await fitted(makeBmp(30, 20), 'image/bmp'));
    assert.deepEqual([image?.mimeType, image?.width, image?.height], ['image/png', 30, 20]);
  });

  it('that are too large as PNG become JPEG', async () => {
    const [image] = listed(await fitted(makePng(450, 450, true), 'image/png', 250_000));
    assert.equal(image?.mimeType, 'image/jpeg');
    assert.ok(image.bytes.length <= 250_000);
  });

  it('with transparent parts are white there as JPEG, like the page behind a diagram', async () => {
    const [image] = listed(await fitted(makePng(450, 450, true, 100), 'image/png', 250_000));
    assert.ok(image?.mimeType === 'image/jpeg');
    await loadPhoton();
    const decoded = PhotonImage.new_from_byteslice(image.bytes);
    assert.deepEqual([...decoded.get_raw_pixels().subarray(0, 4)], [255, 255, 255, 255]);
    decoded.free();
  });

  it('that cannot be decoded are described', async () => {
    const cut = makePng(3000, 30).subarray(0, 200);
    assert.deepEqual(await fitted(cut), { kind: 'describe', reason: 'it cannot be decoded' });
  });

  it('that claim to be huge are described before they are decoded', async () => {
    const bomb = Buffer.from(makePng(10, 10));
    bomb.writeUInt32BE(60_000, 16);
    bomb.writeUInt32BE(60_000, 20);
    const described = await fitted(bomb);
    assert.ok('kind' in described && described.kind === 'describe');
    assert.match(described.reason, /^it has 60000 × 60000 pixels/);
  });

  it('are converted once for the same content', async () => {
    const once = await converter.fitImage(makeBmp(31, 21), 'image/bmp', limits);
    const twice = await converter.fitImage(makeBmp(31, 21), 'image/bmp', limits);
    assert.ok(once.kind === 'images' && twice.kind === 'images');
    assert.equal(once.images, twice.images);
  });

  it('that were aborted are converted by the next request', async () => {
    const stop = new AbortController();
    const aborted = converter.fitImage(makeBmp(32, 22), 'image/bmp', limits, stop.signal);
    stop.abort(new Error('stopped'));
    await assert.rejects(aborted, /stopped/);
    assert.equal((await converter.fitImage(makeBmp(32, 22), 'image/bmp', limits)).kind, 'images');
  });
});

it('a photo is turned as its EXIF orientation says', async () => {
  const photo = readFileSync('samples/server/files/landscape.jpg');
  const upright = imageSize(photo);
  const limits = { maxSide: 100, maxBytes: 1_000_000, maxImages: 1 };
  const fitted = await converter.fitImage(withOrientation(photo, 6), 'image/jpeg', limits);
  assert.ok(fitted.kind === 'images' && upright);
  const [image] = fitted.images;
  assert.deepEqual(imageSize(image?.bytes ?? photo), { width: upright.height, height: upright.width });
  assert.equal(image?.mimeType, 'image/jpeg');
});

it('a photo that would fit is turned too, because not every model is shown it upright', async () => {
  const photo = readFileSync('samples/server/files/landscape.jpg');
  const upright = imageSize(photo);
  const limits = imageLimits('anthropic');
  assert.equal((await converter.fitImage(photo, 'image/jpeg', limits)).kind, 'keep');
  const fitted = await converter.fitImage(withOrientation(photo, 8), 'image/jpeg', limits);
  assert.ok(fitted.kind === 'images' && upright);
  const { width, height } = imageSize(fitted.images[0]?.bytes ?? photo) ?? upright;
  assert.equal(width < height, upright.width > upright.height);
});

it('a GIF is sent as its first frame where none or only still ones are accepted', async () => {
  const still = Buffer.from('R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7', 'base64');
  const moving = Buffer.concat([still.subarray(0, -1), still.subarray(19)]);
  const kinds = async (bytes: Uint8Array, provider: string) => {
    const fitted = await converter.fitImage(bytes, 'image/gif', imageLimits(provider));
    return fitted.kind === 'images' ? fitted.images.map(({ mimeType }) => mimeType) : fitted.kind;
  };
  assert.equal(await kinds(still, 'openai'), 'keep');
  assert.equal(await kinds(moving, 'anthropic'), 'keep');
  assert.deepEqual(await kinds(moving, 'openai'), ['image/png']);
  assert.deepEqual(await kinds(moving, 'openai-chat'), ['image/png']);
  assert.deepEqual(await kinds(still, 'google'), ['image/png']);
  assert.deepEqual(await kinds(moving, 'google'), ['image/png']);
});

it('a size bomb is known by its header', () => {
  const bomb = Buffer.from(makePng(10, 10));
  // Width and height in its first chunk.
  bomb.writeUInt32BE(50_000, 16);
  bomb.writeUInt32BE(50_000, 20);
  assert.match(unsendableReason(bomb, 'image/png') ?? '', /^it has 50000 × 50000 pixels/);
  assert.equal(unsendableReason(makePng(10, 10), 'image/png'), undefined);
});

it('a request that joins another one goes on when that one is stopped', async () => {
  const stop = new AbortController();
  const limits = imageLimits('anthropic');
  const first = converter.fitImage(makeBmp(33, 23), 'image/bmp', limits, stop.signal);
  const second = converter.fitImage(makeBmp(33, 23), 'image/bmp', limits);
  stop.abort(new Error('stopped'));
  await assert.rejects(first, /stopped/);
  assert.equal((await second).kind, 'images');
});

describe('EXIF orientations', () => {
  // The image A B C / D E F, one letter per pixel.
  const source = {
    pixels: Uint8Array.from([...'ABCDEF'].flatMap((c) => Array(4).fill(c.charCodeAt(0)))),
    width: 3,
    height: 2,
  };
  const turned: readonly (readonly [orientation: number, rows: string])[] = [
    [2, 'CBA FED'],
    [3, 'FED CBA'],
    [4, 'DEF ABC'],
    [5, 'AD BE CF'],
    [6, 'DA EB FC'],
    [7, 'FC EB DA'],
    [8, 'CF BE AD'],
  ];
  for (const [orientation, rows] of turned) {
    it(`${orientation} gives ${rows}`, () => {
      const { pixels, width } = turnPixels(source, orientation);
      const letters = [...pixels].filter((_, at) => at % 4 === 0).map((code) => String.fromCharCode(code));
      const made = letters.map((letter, at) => (at > 0 && at % width === 0 ? ` ${letter}` : letter)).join('');
      assert.equal(made, rows);
    });
  }
});

function listed<T>(value: readonly T[] | object): readonly T[] {
  assert.ok(Array.isArray(value), JSON.stringify(value));
  return value;
}
