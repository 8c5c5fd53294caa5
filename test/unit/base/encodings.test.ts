import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { decodeOtherText, isEncodingUnknown } from '../../../src/base/encodings.ts';

/** As iconv wrote them. */
const CASES: Readonly<Record<string, readonly [hex: string, text: string]>> = {
  Shift_JIS: ['8fa49569816991e5816a2c82e882f182b28141c5bc0a', '商品（大）,りんご、ﾅｼ\n'],
  'EUC-JP': ['bea6c9ca2ca4eaa4f3a4b40a', '商品,りんご\n'],
  GB18030: ['b2fac6b72ccafdc1bf0ac6bbb9fb2c3132300a', '产品,数量\n苹果,120\n'],
  Big5: [
    'b2a3ab7eb24db3e6a147c4abaa47a94dbeefa46ca141bbf9aee6ab4ba979a1430a',
    '產品清單：蘋果和橘子，價格便宜。\n',
  ],
  'EUC-KR': ['bbe7b0fa2c3132300ab9e82c39350a', '사과,120\n배,95\n'],
  'Windows-1251': ['d2eee2e0f02cd2eeeded0adfe1ebeeeae82c3132300a', 'Товар,Тонн\nЯблоки,120\n'],
  'KOI8-R': ['f4cfd7c1d22cf4cfcece0af1c2cccfcbc92c3132300a', 'Товар,Тонн\nЯблоки,120\n'],
  'Windows-1252': [
    '4772f6df653bc47066656c3bdc6265726d61df3bd66c3b73fcdf3b7370e4743b66fc723bc4d6dcdf0a',
    'Größe;Äpfel;Übermaß;Öl;süß;spät;für;ÄÖÜß\n',
  ],
  'Shift_JIS of XML': [
    '3c3f786d6c2076657273696f6e3d22312e302220656e636f64696e673d2253686966745f4a4953223f3e3c613e97d13c2f613e',
    '<?xml version="1.0" encoding="Shift_JIS"?><a>林</a>',
  ],
  'Latin-2 of Python': [
    '23202d2a2d20636f64696e673a2069736f2d383835392d32202d2a2d0a5a61bff3b3e6',
    '# -*- coding: iso-8859-2 -*-\nZażółć',
  ],
};

describe('text that is not UTF-8', () => {
  for (const [encoding, [hex, text]] of Object.entries(CASES)) {
    it(`is read in the encoding that it declares, or in which its words are words: ${encoding}`, () => {
      const bytes = Buffer.from(hex, 'hex');
      assert.equal(decodeOtherText(bytes), text);
      assert.equal(isEncodingUnknown(bytes), false);
    });
  }

  it('is said to be unknown if it cannot be Windows-1252: Polish and Greek', () => {
    for (const hex of ['5a61bff3b3e62067ea9c6cb9', 'cae1f4dcebefe3eff220f0f1effafcedf4f9ed'])
      assert.equal(isEncodingUnknown(Buffer.from(hex, 'hex')), true);
  });
});
