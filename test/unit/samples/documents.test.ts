import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { inflateRawSync } from 'node:zlib';
import { fileTypeFromBuffer } from 'file-type';
import { encodePdf, quotePdf } from '../../../samples/server/encode/pdf.ts';
import { encodeZip } from '../../../samples/server/encode/zip.ts';
import { writeReport } from '../../../samples/server/report.ts';
import { computeCrc32 } from './decode.ts';

describe('encodePdf', () => {
  it('has a table whose every offset points at its object', async () => {
    for (const bytes of [writeReport(), encodePdf({ title: 'É (1)', drawing: 'BT (é) Tj ET' })]) {
      const pdf = Buffer.from(bytes).toString('latin1');
      assert.equal((await fileTypeFromBuffer(bytes))?.mime, 'application/pdf');
      const start = Number(/startxref\n(\d+)\n%%EOF\n$/.exec(pdf)?.[1]);
      const [, count, rows = ''] =
        /^xref\n0 (\d+)\n((?:\d{10} \d{5} [nf] \n)+)trailer/.exec(pdf.slice(start)) ?? [];
      const entries = rows.match(/.{19}\n/g) ?? [];
      assert.equal(entries.length, Number(count));
      for (const [number, entry] of entries.entries()) {
        if (number > 0) assert.ok(pdf.startsWith(`${number} 0 obj\n`, Number(entry.slice(0, 10))));
      }
    }
  });

  it('states the length of its drawing', () => {
    const pdf = Buffer.from(writeReport()).toString('latin1');
    const [, length, drawing] = /<< \/Length (\d+) >>\nstream\n(.*?)\nendstream/s.exec(pdf) ?? [];
    assert.equal(drawing?.length, Number(length));
  });

  it('escapes brackets in text', () => {
    assert.equal(quotePdf('a (b) \\'), '(a \\(b\\) \\\\)');
  });
});

describe('encodeZip', () => {
  const entries = [
    { name: 'a.txt', bytes: Buffer.from('alpha '.repeat(100)) },
    { name: 'folder/ü.bin', bytes: Buffer.from([0, 255, 1]) },
    { name: 'empty', bytes: Buffer.alloc(0) },
  ];

  it('gives every file back through its directory', async () => {
    const zip = Buffer.from(encodeZip(entries));
    assert.equal((await fileTypeFromBuffer(zip))?.mime, 'application/zip');
    assert.deepEqual(unpack(zip), entries);
  });

  it('is the same for the same files', () => {
    assert.deepEqual(encodeZip(entries), encodeZip(entries));
  });
});

function unpack(zip: Buffer): { name: string; bytes: Buffer }[] {
  const end = zip.length - 22;
  assert.equal(zip.readUInt32LE(end), 0x06054b50);
  let at = zip.readUInt32LE(end + 16);
  assert.equal(at + zip.readUInt32LE(end + 12), end);
  return Array.from({ length: zip.readUInt16LE(end + 10) }, () => {
    assert.equal(zip.readUInt32LE(at), 0x02014b50);
    const nameLength = zip.readUInt16LE(at + 28);
    const name = zip.toString('utf8', at + 46, at + 46 + nameLength);
    const local = zip.readUInt32LE(at + 42);
    assert.equal(zip.readUInt32LE(local), 0x04034b50);
    assert.equal(zip.toString('utf8', local + 30, local + 30 + zip.readUInt16LE(local + 26)), name);
    const data = local + 30 + nameLength;
    const bytes = inflateRawSync(zip.subarray(data, data + zip.readUInt32LE(local + 18)));
    assert.equal(bytes.length, zip.readUInt32LE(at + 24));
    assert.equal(computeCrc32(bytes), zip.readUInt32LE(at + 16));
    at += 46 + nameLength;
    return { name, bytes };
  });
}
