import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { BUDGET } from '../../../../src/base/budget.ts';
import { collectTools } from '../../../../src/mcp/lists/definitions.ts';
import { pickIcon } from '../../../../src/mcp/lists/pages.ts';
import { countTurns } from '../../../kit/countTurns.ts';

const PNG = 'data:image/png;base64,iVBORw0KGgo=';
const SVG = '<svg xmlns="http://www.w3.org/2000/svg"/>';
const svgUrl = `data:image/svg+xml;base64,${Buffer.from(SVG).toString('base64')}`;

describe('an icon', () => {
  const cases: Readonly<Record<string, readonly [unknown, string | undefined]>> = {
    'is the first image that is a data URL': [
      [{ src: 'https://example.com/a.png' }, { src: PNG }, { src: svgUrl }],
      PNG,
    ],
    'is never loaded from another address': [
      [{ src: 'https://example.com/a.png' }, { src: 'http://a/b' }],
      undefined,
    ],
    'cannot be a script': [
      [{ src: 'javascript:alert(1)' }, { src: 'data:text/html;base64,YQ==' }],
      undefined,
    ],
    'can be an SVG': [[{ src: svgUrl }], svgUrl],
    'that is an encoded SVG becomes base64': [
      [{ src: `data:image/svg+xml,${encodeURIComponent(SVG)}` }],
      svgUrl,
    ],
    'that is a plain SVG becomes base64, too': [[{ src: `data:image/svg+xml;utf8,${SVG}` }], svgUrl],
    'that is a broken SVG is ignored': [[{ src: 'data:image/svg+xml,%' }], undefined],
    'cannot break out of its attribute': [[{ src: `${PNG}");x{background:url("//e` }], undefined],
    'that is too large is ignored': [[{ src: `data:image/png;base64,${'A'.repeat(70_000)}` }], undefined],
    'that is too large as base64 is ignored': [
      [{ src: `data:image/svg+xml,${'A'.repeat(60_000)}` }],
      undefined,
    ],
    'after the first 20 is ignored': [[...new Array(1000).fill({}), { src: PNG }], undefined],
    'needs a list': [{ src: PNG }, undefined],
    'needs an object with a text': [[null, 5, { src: 7 }], undefined],
  };
  for (const [rule, [icons, expected]] of Object.entries(cases)) {
    it(rule, () => assert.equal(pickIcon(icons), expected));
  }
});

it('a list over its budget of characters is cut with a notice, and its beginning is used', async () => {
  // The schema of each tool alone is within its budget.
  const description = 'x'.repeat(BUDGET.schemaChars - 1000);
  const tools = Array.from({ length: 100 }, (_, at) => ({
    name: `t${at}`,
    inputSchema: { type: 'object', description },
  }));
  const { items, notices } = await collectTools('big', async () => ({ tools }));
  assert.ok(items.length > 0 && items.length <= BUDGET.listChars / description.length);
  assert.deepEqual(notices, [`The list of tools was cut after ${items.length}.`]);
});

it('a long list does not block the event loop', async () => {
  const inputSchema = { type: 'object', enum: Array.from({ length: 9000 }, (_, at) => at) };
  const tools = Array.from({ length: 500 }, (_, at) => ({ name: `t${at}`, inputSchema }));
  assert.ok((await countTurns(() => collectTools('long', async () => ({ tools })))) >= 5);
});
