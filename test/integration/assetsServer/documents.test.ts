import assert from 'node:assert/strict';
import { it } from 'node:test';
import { imageSize } from '../../../src/media/measure.ts';
import { makeEncryptedPdf, makePdf, makePng } from '../../kit/documents.ts';
import { everyDocument } from '../../kit/everyDocument.ts';
import { callTool, connectOverStdio, createNotes } from '../helpers/assetsServer.ts';

const name = (ending: string) => `tool-file-20261116-093012-Document12-1.${ending}`;

it('read_asset returns the text of every kind of document, in windows and by pages', async (t) => {
  const notes = createNotes(t);
  const documents = await everyDocument();
  for (const [ending, bytes] of documents) notes.write(`notes/cmdassets/${name(ending)}`, bytes);
  const { client } = await connectOverStdio(t, '2025-11-25', [notes.path]);
  for (const [ending, bytes, text] of documents) {
    const read = await callTool(client, 'read_asset', { uri: `asset:${name(ending)}` });
    assert.ok(read.resource?.text?.includes(text), `${ending}: ${JSON.stringify(read)}`);
    const raw = await callTool(client, 'read_asset', { uri: `asset:${name(ending)}`, as: 'bytes' });
    assert.equal(raw.structured['totalBytes'], bytes.length, ending);
  }
  const page = await callTool(client, 'read_asset', { uri: `asset:${name('pdf')}`, pages: '2' });
  assert.equal(page.resource?.text, '## Page 2\n\nBeta');
  assert.equal(page.text, `All of the text of ${name('pdf')} (application/pdf, 2 pages, 15 bytes).`);
  assert.deepEqual(
    [page.structured['documentType'], page.structured['pageCount'], page.structured['mimeType']],
    ['application/pdf', 2, 'text/markdown'],
  );
  const window = { uri: `asset:${name('pdf')}`, start: 11, maxBytes: 5 };
  const part = await callTool(client, 'read_asset', window);
  assert.deepEqual([part.resource?.text, part.structured['nextStart']], ['Alpha', 16]);
});

it('read_asset ends a document that cannot be read with one line, and the server goes on', async (t) => {
  const notes = createNotes(t);
  notes.write(`notes/cmdassets/${name('pdf')}`, makeEncryptedPdf());
  const { client } = await connectOverStdio(t, '2025-11-25', [notes.path]);
  const read = () => client.callTool({ name: 'read_asset', arguments: { uri: `asset:${name('pdf')}` } });
  const { content, isError } = await read();
  const [line, ...more] = content;
  assert.ok(isError && line?.type === 'text' && more.length === 0);
  assert.match(line.text, /^The text of .* cannot be read: it is protected by a password\./);
  notes.write(`notes/cmdassets/${name('pdf')}`, makePdf('Fine'));
  assert.match(JSON.stringify(await read()), /Fine/);
});

it('read_asset scales an image that is larger than hosts accept, and cuts a very tall one', async (t) => {
  const notes = createNotes(t);
  const image = (id: string) => `tool-image-20261116-093012-${id}-1.png`;
  notes.write(`notes/cmdassets/${image('Noise12345')}`, makePng(1200, 1100, true));
  notes.write(`notes/cmdassets/${image('Tall123456')}`, makePng(100, 9000));
  const { client } = await connectOverStdio(t, '2025-11-25', [notes.path]);
  const read = async (id: string) => {
    const { content } = await client.callTool({
      name: 'read_asset',
      arguments: { uri: `asset:${image(id)}` },
    });
    const [line] = content;
    assert.match(
      line?.type === 'text' ? line.text : '',
      /It was (converted|cut into 6 images) to fit: image\//,
    );
    return content.flatMap((block) => (block.type === 'image' ? [Buffer.from(block.data, 'base64')] : []));
  };
  const [noise, ...none] = await read('Noise12345');
  assert.deepEqual([imageSize(noise ?? Buffer.alloc(0)), none], [{ width: 1200, height: 1100 }, []]);
  assert.ok((noise?.length ?? 0) <= 3_750_000);
  const slices = (await read('Tall123456')).map(imageSize);
  assert.equal(slices.length, 6);
  for (const slice of slices) assert.ok(slice?.width === 100 && slice.height <= 1568);
});
