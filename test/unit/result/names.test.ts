import assert from 'node:assert/strict';
import { it } from 'node:test';
import fc from 'fast-check';
import { nameBeside, nameFromUri } from '../../../src/result/blocks.ts';
import { anySign } from '../../kit/anySign.ts';

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
    fc.property(fc.string({ unit: anySign }), (uri) => {
      for (const name of [nameFromUri(uri), nameBeside({ name: uri })])
        assert.match(name ?? '', /^[^\n\r[\]<>`\\*!|~&$]{0,160}$/);
    }),
  );
});

const beside: readonly (readonly [owner: unknown, name: string | undefined])[] = [
  [{ name: 'Sales Dashboard' }, 'Sales Dashboard'],
  [{ name: 'id-7', filename: 'report.pdf' }, 'report.pdf'],
  [{ fileName: 'C:\\Users\\me\\plan.docx' }, 'plan.docx'],
  [{ filename: '../../etc/passwd' }, 'passwd'],
  [{ name: '](javascript:alert(1))\u0000\u202e\n# %% user' }, '_(javascript_alert(1))_ _ user'],
  [{ name: '50%20off.txt' }, '50_20off.txt'],
  [{ name: '///' }, undefined],
  [{ name: 7 }, undefined],
  ['name', undefined],
];
for (const [owner, name] of beside) {
  it(`bytes in ${JSON.stringify(owner)} are called ${name}`, () => assert.equal(nameBeside(owner), name));
}
