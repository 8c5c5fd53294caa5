import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { assetName, DEVICE_NAME, findUnlinked, readAssetName } from '../../../src/base/assetNames.ts';

const NAME = 'tool-image-20261116-093012-V1StGXR8a0-1.png';

describe('a file that a chat mentions in any way is linked', () => {
  const texts: readonly [string, string][] = [
    ['a link', `[Tool generated file 1](cmdassets/${NAME})`],
    ['an image', `![Tool generated image 1](cmdassets/${NAME})`],
    ['an image of another number', `![Tool generated image 7](cmdassets/${NAME})`],
    ['a quoted link', `> ![x](cmdassets/${NAME} "title")`],
    ['a link that has moved', `![x](../old/cmdassets/${NAME})`],
    ['an absolute path', `![x](</a b/cmdassets/${NAME}>)`],
    ['HTML', `<img src='cmdassets/${NAME}?1'>`],
    ['code', `\`\`\`\n${NAME}\n\`\`\``],
    ['a comment', `<!-- ${NAME} -->`],
    ['an argument', `{"picture":"asset:${NAME}"}`],
    ['another case', `![x](CMDASSETS/${NAME.toUpperCase()})`],
    ['at the end of a sentence', `See ${NAME}.`],
  ];
  for (const [name, text] of texts) {
    it(name, () => assert.deepEqual(findUnlinked(['nothing', text], [NAME]), []));
  }
});

describe('a file that no chat mentions is unlinked', () => {
  const texts: readonly [string, string][] = [
    ['no text at all', ''],
    ['another number', `![x](cmdassets/${NAME.replace('-1.', '-12.')})`],
    ['another result', `![x](cmdassets/${NAME.replace('V1St', 'XXXX')})`],
    ['another kind', `![x](cmdassets/${NAME.replace('image', 'file')})`],
  ];
  for (const [name, text] of texts) {
    it(name, () => assert.deepEqual(findUnlinked([text], [NAME]), [NAME]));
  }
});

it('only files of our own names are ever found', () => {
  const others = [
    'holiday.png',
    'tool-image.png',
    `${NAME}.tmp`,
    `${NAME}.bak`,
    `my-${NAME}`,
    '.filechat-spill-1-a.tmp',
    'tool-video-20261116-093012-V1StGXR8a0-1.mp4',
    'tool-image-20261116-093012-short-1.png',
    'tool-image-20261116-093012-V1StGXR8a0-0.png',
    'tool-image-20261116-093012-V1StGXR8a0-1.',
    'tool-image-20261116-093012-V1StGXR8a0-1.png\n',
  ];
  assert.deepEqual(findUnlinked([], [...others, NAME]), [NAME]);
});

it('many texts and many names take no longer than it takes to read them', () => {
  const names = Array.from({ length: 10_000 }, (_, at) => NAME.replace('-1.', `-${at + 1}.`));
  const text = names.slice(0, 9_999).join('\n');
  assert.deepEqual(findUnlinked([text, 'tool-image-'.repeat(100_000)], names), [names[9_999]]);
});

describe('the name of an asset', () => {
  it('has a kind, a time, a number and an extension', () => {
    const parts = { maker: 'tool', kind: 'image', time: '20261116-093012', number: 1, extension: 'png' };
    assert.deepEqual(readAssetName(NAME), parts);
  });

  it('says whether a tool returned it or a model made it', () => {
    const made = NAME.replace('tool-', 'model-');
    assert.equal(readAssetName(made)?.maker, 'model');
    assert.deepEqual(findUnlinked([`(cmdassets/${made})`], [made]), []);
    assert.deepEqual(findUnlinked([`(cmdassets/${NAME})`], [made]), [made]);
  });

  const numbers: readonly (readonly [number: number, last: number | undefined, written: string])[] = [
    [1, undefined, '-1.'],
    [9, 9, '-9.'],
    [1, 10, '-01.'],
    [12, 12, '-12.'],
    [7, 1000, '-0007.'],
    [11, 9, '-11.'],
  ];
  for (const [number, last, written] of numbers) {
    it(`${number} of ${last ?? 'an unknown number'} is ${written}`, () => {
      const time = new Date(2026, 10, 16, 9, 30, 12);
      const name = assetName({ kind: 'image', time, resultId: 'V1StGXR8a0', number, last, extension: 'png' });
      assert.equal(name, NAME.replace('-1.', written));
      assert.equal(readAssetName(name)?.kind, 'image');
      assert.deepEqual(findUnlinked([name], [name]), []);
    });
  }

  const others = [
    `cmdassets/${NAME}`,
    NAME.replace('-1.', '-00.'),
    NAME.replace('-1.', '-0000000001.'),
    `${NAME}\n`,
    NAME.replace('image', 'video'),
    NAME.replace('-1.', '-0.'),
    NAME.replace('V1StGXR8a0', 'short'),
    NAME.replace('V1StGXR8a0', 'a'.repeat(65)),
    NAME.replace('png', 'PNG'),
    NAME.replace('png', 'a/b'),
  ];
  for (const name of others) {
    it(`is not ${JSON.stringify(name)}`, () => assert.equal(readAssetName(name), undefined));
  }
});

it('devices of Windows are recognized with and without an extension', () => {
  for (const name of ['CON', 'nul.txt', 'com1', 'LPT².log', 'conin$', 'aux .md'])
    assert.match(name, DEVICE_NAME);
  for (const name of ['console', 'null.txt', 'com', 'com10', 'xcon']) assert.doesNotMatch(name, DEVICE_NAME);
});
