import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { nameFromUri } from '../../../src/result/blocks.ts';

const cases: Record<string, string | undefined> = {
  'file:///data/Sales%20Q1.pdf': 'Sales Q1.pdf',
  'https://host.example/a/b.csv?x=1#y': 'b.csv',
  'https://host.example': undefined,
  'C:\\data\\x.png': 'x.png',
  'demo:report': 'report',
  'demo://report.pdf': 'report.pdf',
  'x://a/..': undefined,
  'x://a/](javascript:alert(1))<img>': '_(javascript_alert(1))_img_',
  'x://a/\u202egnp.exe': '_gnp.exe',
  'x://a/%E0%A4%A': '_E0_A4_A',
};
for (const [uri, name] of Object.entries(cases)) {
  it(`${JSON.stringify(uri)} is called ${name}`, () => assert.equal(nameFromUri(uri), name));
}

it('a name is one short line without Markdown syntax', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (uri) => {
      assert.match(nameFromUri(uri) ?? '', /^[^\n\r[\]<>`\\*!|~&$]{0,160}$/);
    }),
  );
});
