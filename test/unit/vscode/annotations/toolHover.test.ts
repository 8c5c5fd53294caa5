import assert from 'node:assert/strict';
import { it } from 'node:test';
import MarkdownIt from 'markdown-it';
import { toolHoverText } from '../../../../src/vscode/annotations/toolHover.ts';

const markdown = new MarkdownIt({ html: true, linkify: true });

it('a tool shows its title, its description and a row for each argument, the required ones first', () => {
  const text = toolHoverText({
    server: 'charts',
    tool: 'bar',
    title: 'Bar chart',
    description: 'Draws\nbars.',
    readOnly: true,
    inputSchema: {
      type: 'object',
      properties: {
        colour: { enum: ['red', 'blue'], description: 'Of the bars' },
        values: { type: 'array', items: { type: 'number' } },
        title: { type: 'string' },
      },
      required: ['values'],
    },
  });
  assert.equal(
    text,
    [
      '**charts\\.bar** — Bar chart',
      'Draws bars\\.',
      '*Only reads data, according to the server.*',
      '| Argument | Type | Required | Description |\n|:-|:-|:-|:-|\n| **values** | array | yes |  |\n| **colour** | red \\| blue |  | Of the bars |\n| **title** | string |  |  |',
    ].join('\n\n'),
  );
});

it('all text of a server is escaped', () => {
  const evil =
    '[x](command:a) <img src=x> ![y](http://e.com/z) https://e.com `c` | $(zap) \n\n# h \u202e www.e.com';
  const text = toolHoverText({
    server: 's',
    tool: evil,
    title: evil,
    description: evil,
    inputSchema: {
      properties: { [evil]: { type: 'string', description: evil }, b: { enum: [evil, '2'] } },
    },
  });
  const html = markdown.render(text);
  assert.doesNotMatch(html, /<(?:a|img|code|h1)\b/);
  assert.doesNotMatch(html, /\u202e/);
  assert.equal(html.match(/<tr>/g)?.length, 3);
  assert.equal(html.match(/<td/g)?.length, 8);
});

it('a tool without arguments is described as such', () => {
  assert.match(
    toolHoverText({ server: 'a', tool: 'b', inputSchema: {} }),
    /\*This tool takes no arguments\.\*$/,
  );
});
