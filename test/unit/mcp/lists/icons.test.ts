import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { pickIcon } from '../../../../src/mcp/lists/pages.ts';

const PNG = 'data:image/png;base64,iVBORw0KGgo=';
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>';
const svgUrl = `data:image/svg+xml;base64,${Buffer.from(SVG).toString('base64')}`;

describe('an icon', () => {
  const cases: Readonly<Record<string, readonly [unknown, string | undefined]>> = {
    'is the first picture that is here already': [
      [{ src: 'https://example.com/a.png' }, { src: PNG }, { src: svgUrl }],
      PNG,
    ],
    'is never loaded from elsewhere': [
      [{ src: 'https://example.com/a.png' }, { src: 'http://a/b' }],
      undefined,
    ],
    'is no script': [[{ src: 'javascript:alert(1)' }, { src: 'data:text/html;base64,YQ==' }], undefined],
    'may be a drawing': [[{ src: svgUrl }], svgUrl],
    'that is a drawing as text becomes base64': [
      [{ src: `data:image/svg+xml,${encodeURIComponent(SVG)}` }],
      svgUrl,
    ],
    'that is a drawing with signs of its own becomes base64, too': [
      [{ src: `data:image/svg+xml;utf8,${SVG}` }],
      svgUrl,
    ],
    'that is a broken drawing is none': [[{ src: 'data:image/svg+xml,%' }], undefined],
    'cannot break out of its attribute': [[{ src: `${PNG}");x{background:url("//e` }], undefined],
    'that is too large is none': [[{ src: `data:image/png;base64,${'A'.repeat(70_000)}` }], undefined],
    'that is too large as base64 is none': [[{ src: `data:image/svg+xml,${'A'.repeat(60_000)}` }], undefined],
    'among a million is not looked for': [[...new Array(1000).fill({}), { src: PNG }], undefined],
    'is not in what is no list': [{ src: PNG }, undefined],
    'is not in what is no icon': [[null, 5, { src: 7 }], undefined],
  };
  for (const [rule, [icons, expected]] of Object.entries(cases)) {
    it(rule, () => assert.equal(pickIcon(icons), expected));
  }
});
