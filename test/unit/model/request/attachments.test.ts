import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { sentAs } from '../../../../src/model/request/sentAs.ts';
import { build, MemoryAttachments, type MemoryFile, showMessages } from './requests.ts';

const FILES: Readonly<Record<string, MemoryFile>> = {
  'a.ts': { bytes: 'one\n\ttwo\nthree\nfour\nfive\n' },
  'b.png': { bytes: 'PNG', mimeType: 'image/png' },
  'c.mp3': { bytes: 'MP3', mimeType: 'audio/mpeg' },
  'old.csv': { bytes: Buffer.from('Größe;1\r\nHöhe;2\r\n', 'latin1'), mimeType: 'text/csv', isText: false },
  'docs/': { bytes: 'x.md  3 bytes', isFolder: true },
};

/** What the model and the user get for a turn with these links. */
async function send(links: string, more = {}) {
  const attachments = new MemoryAttachments(FILES);
  const { request, notes, attached } = await build(`# %% user\n${links}\n`, { attachments, ...more });
  const [, , ...parts] = showMessages(request).split('\n');
  return { sent: parts.map((part) => part.trimStart()), notes, attached };
}

describe('a link to lines of a file', () => {
  it('sends exactly those lines, with their numbers', async () => {
    const { sent, notes } = await send('[x](a.ts#L2-L3) and [y](a.ts#L5)');
    assert.deepEqual(sent, [
      'Lines 2–3 of the file a.ts, with line numbers:↵2\t\ttwo↵3\tthree',
      'Line 5 of the file a.ts, with line numbers:↵5\tfive',
    ]);
    assert.deepEqual(notes, []);
  });

  it('reads a file in another encoding than UTF-8', async () => {
    const { sent, notes } = await send('[x](old.csv#L2)');
    assert.deepEqual(sent, ['Line 2 of the file old.csv, with line numbers:↵2\tHöhe;2']);
    assert.deepEqual(notes, []);
  });

  it('sends the lines that exist, and says where the file ends', async () => {
    const { sent, notes } = await send('[x](a.ts#L5-L9)');
    assert.deepEqual(sent, [
      'Line 5 of the file a.ts, with line numbers:↵5\tfive↵[The file ends here: it has 5 lines.]',
    ]);
    assert.deepEqual(notes, ['“a.ts” has no lines 6–9: it has 5 lines.']);
  });

  const unsent: readonly (readonly [rule: string, link: string, line: string, note: string])[] = [
    [
      'after its end',
      'a.ts#L6-L9',
      '[Lines 6–9 of the file a.ts are not sent: it has 5 lines.]',
      'Lines 6–9 of “a.ts” are not sent to the model: it has 5 lines.',
    ],
    [
      'before its first',
      'a.ts#L0',
      '[Line 0 of the file a.ts is not sent: it has 5 lines.]',
      'Line 0 of “a.ts” is not sent to the model: it has 5 lines.',
    ],
    [
      'of an image',
      'b.png#L1',
      '[Line 1 of the file b.png is not sent: it is not a text file.]',
      'Line 1 of “b.png” is not sent to the model: it is not a text file.',
    ],
    [
      'of a folder',
      'docs/#L1',
      '[Line 1 of the file docs/ is not sent: it is a folder.]',
      'Line 1 of “docs/” is not sent to the model: it is a folder.',
    ],
  ];
  for (const [rule, link, line, note] of unsent) {
    it(`leaves a line in the place of lines ${rule}, and everything else is sent`, async () => {
      const { sent, notes } = await send(`[x](${link}) [y](a.ts#L1)`);
      assert.deepEqual(sent, [line, 'Line 1 of the file a.ts, with line numbers:↵1\tone']);
      assert.deepEqual(notes, [note]);
    });
  }
});

describe('a web page', () => {
  const model = { name: 'm', accepts: () => false };
  const page = { mimeType: 'text/html', size: 9, isText: true };

  it('is sent as source if it is a file of the user', () => {
    assert.deepEqual(sentAs({ ...page, name: 'index.html' }, model), { kind: 'text' });
  });

  it('is sent as its text if it was fetched', () => {
    const name = 'tool-file-20261118-093012-V1StGXR8-1.html';
    assert.deepEqual(sentAs({ ...page, name }, model), { kind: 'document', reader: 'html' });
  });
});

it('a photo of a phone is sent to models that accept its type', () => {
  const photo = { name: 'a.heic', mimeType: 'image/heic', size: 9, isText: false };
  assert.deepEqual(sentAs(photo, { name: 'm', accepts: () => true }), { kind: 'file' });
  assert.equal(sentAs(photo, { name: 'm', accepts: (type) => type === 'image/png' }).kind, 'named');
});

it('a table in another encoding than UTF-8 is sent as its text', () => {
  const table = { name: 'sales.csv', mimeType: 'text/csv', size: 9 };
  const model = { name: 'm', accepts: () => false };
  assert.deepEqual(sentAs({ ...table, isText: false }, model), { kind: 'document', reader: 'plain' });
  assert.deepEqual(sentAs({ ...table, isText: true }, model), { kind: 'text' });
});

describe('a link to a folder', () => {
  it('sends its listing, and says how to get its files', async () => {
    const { sent } = await send('[docs](docs/)');
    assert.deepEqual(sent, [
      'Names and sizes of the files in the folder docs/. Their content is not sent: to read a file, use a tool that reads files, or ask the user to link to it.↵x.md  3 bytes',
    ]);
  });
});

describe('the attachments of the last turn', () => {
  it('are listed with how much of them is sent, without those that are only named', async () => {
    const { attached } = await send(
      '[a](a.ts) [b](a.ts#L4-L9) [c](a.ts#L9) ![d](b.png) [e](docs/) [f](c.mp3)',
    );
    assert.deepEqual(attached, [
      'a.ts (25 bytes)',
      'a.ts (lines 4–5)',
      'b.png (3 bytes)',
      'docs/ (13 bytes)',
    ]);
  });

  it('are not listed again when another turn follows', async () => {
    const { attached } = await send('[a](a.ts)\n\n# %% assistant\nA\n\n# %% user\nAnd now?');
    assert.deepEqual(attached, []);
  });
});

describe('an estimate', () => {
  it('takes the size of a text file, and reads only lines and listings', async () => {
    const attachments = new MemoryAttachments(FILES);
    const { sent } = await send('[x](a.ts) [y](docs/)', { attachments, isEstimate: true });
    assert.deepEqual(
      sent.map((line) => line.slice(0, 20)),
      ['<text/plain a.ts>', 'Names and sizes of t'],
    );
    assert.deepEqual([...attachments.reads], [['docs/', 1]]);
  });
});
