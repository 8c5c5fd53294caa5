import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { fileTypeFromBuffer } from 'file-type';
import { encodePdf, quotePdf } from '../../../samples/server/encode/pdf.ts';
import { writeReport } from '../../../samples/server/report.ts';

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
