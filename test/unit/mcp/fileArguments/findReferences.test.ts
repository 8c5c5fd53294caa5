import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { findAssetReferences } from '../../../../src/mcp/fileArguments/reference.ts';

const NAME = 'tool-image-20261116-093012-V1StGXR8a0-1.png';

/** The text with each reference in angle brackets. */
function marked(text: string): string {
  let out = '';
  let from = 0;
  for (const { start, end, name } of findAssetReferences(text)) {
    assert.equal(text.slice(start, end), `asset:${name}`);
    out += `${text.slice(from, start)}<${name}>`;
    from = end;
  }
  return out + text.slice(from);
}

describe('references to assets in a text', () => {
  const cases: readonly [text: string, expected: string][] = [
    [`{"image": "asset:${NAME}"}`, `{"image": "<${NAME}>"}`],
    [`See asset:${NAME}.`, `See <${NAME}>.`],
    [`[image P, image/png, 1 KB, asset:${NAME}]`, `[image P, image/png, 1 KB, <${NAME}>]`],
    [`asset:${NAME} asset:${NAME}`, `<${NAME}> <${NAME}>`],
    [`asset:../${NAME}`, `asset:../${NAME}`],
    [`asset:sub/${NAME}`, `asset:sub/${NAME}`],
    [`asset:..${NAME}`, `asset:..${NAME}`],
    ['asset:4711 and asset://shop/4711', 'asset:4711 and asset://shop/4711'],
    [`myasset:${NAME}`, `myasset:${NAME}`],
    [`https://example.com/asset:${NAME}`, `https://example.com/asset:${NAME}`],
    [`asset:${NAME}.exe`, `asset:${NAME}.exe`],
  ];
  for (const [text, expected] of cases) it(text, () => assert.equal(marked(text), expected));

  it('a long word that is none is read over', () => {
    assert.deepEqual(findAssetReferences(`asset:${'a-'.repeat(500_000)}`), []);
  });
});
