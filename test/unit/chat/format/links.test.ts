import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import MarkdownIt from 'markdown-it';
import { localLinks, localTarget } from '../../../../src/chat/format/links.ts';
import { eachCase } from '../eachCase.ts';

const targets = (body: string) => localLinks(body).map((link) => link.target);

describe('links to local files', () => {
  const cases: Record<string, [body: string, expected: string[]]> = {
    'a relative path': ['see [sales](data/sales.csv)', ['data/sales.csv']],
    'an image': ['![x](a.png)', ['a.png']],
    'an absolute path': ['[a](/tmp/a.txt)', ['/tmp/a.txt']],
    'a drive': ['[a](C:/a.txt) [b](C:\\dir\\b.txt)', ['C:/a.txt', 'C:\\dir\\b.txt']],
    'a file URI': ['[a](file:///tmp/a%20b.txt)', ['/tmp/a b.txt']],
    'a file URI with a drive': ['[a](file:///C:/a.txt)', ['C:/a.txt']],
    'a path with spaces': ['[a](<my file.txt>)', ['my file.txt']],
    'percent signs are decoded': ['[a](my%20file.txt)', ['my file.txt']],
    'an invalid percent sign stays': ['[a](100%.txt)', ['100%.txt']],
    'a fragment goes': ['[a](a.md#part)', ['a.md']],
    'an encoded number sign stays': ['[a](a%23b.md)', ['a#b.md']],
    'a title goes': ['[a](a.md "the title") [b](b.md \'t\') [c](c.md (t))', ['a.md', 'b.md', 'c.md']],
    'brackets in pairs': ['[a](a(1).md)', ['a(1).md']],
    'escapes are resolved': ['[a](a\\(1.md)', ['a(1.md']],
    'entities are resolved': ['[a](a&amp;b.md)', ['a&b.md']],
    'by reference': ['[a][B]\n\n[b]: x.md "t"\n', ['x.md']],
    'by reference of its text': ['[a][] and [c]\n\n[a]: x.md\n[c]: <y z.md>\n', ['x.md', 'y z.md']],
    'an image in a link': ['[![i](i.png)](a.md)', ['a.md', 'i.png']],
    'the same file once': ['[a](a.md) [b](a.md#x)', ['a.md']],
    'over two lines': ['[a\nb](a.md)', ['a.md']],
    'in a list and a quote': ['- [a](a.md)\n> [b](b.md)\n', ['a.md', 'b.md']],
    'not on the web': ['[a](https://x.y/a.md) [b](http://x) [c](mailto:x@y) [d](//host/a.md)', []],
    'not on another machine': ['[a](file://host/a.md) [b](\\\\\\\\host\\a)', []],
    'not a command, data, an asset or an anchor': [
      '[a](command:x) [b](data:,x) [c](asset:x) [d](#x) [e]()',
      [],
    ],
    'not in code': ['`[a](a.md)`\n\n```\n[a](a.md)\n```\n', []],
    'not in a comment': ['<!-- [a](a.md) --> <!--\n[b](b.md)\n-->', []],
    'not escaped': ['\\[a](a.md) [b\\](b.md)', []],
    'not across paragraphs': ['[a\n\nb](a.md)', []],
    'not in a tag': ['<a title="[a](a.md)">', []],
    'not with a line break in the name': ['[a](a%0Ab.md)', []],
    'a link in a link is the inner one': ['[a [b](b.md)](a.md)', ['b.md']],
    'a reference that is nowhere': ['[a][b] [c]', []],
  };
  eachCase(cases, (body, expected) => assert.deepEqual(targets(body), expected));

  it('reports the range of a link', () => {
    assert.deepEqual(localLinks('a\n\nb ![my image](i.png)'), [
      { target: 'i.png', start: 5, end: 23, label: 'my image', isImage: true },
    ]);
  });

  it('finds the same links as markdown-it', () => {
    const piece = fc.constantFrom(
      ...'[¦]¦(¦)¦[a]¦](b)¦[x](y)¦!¦<¦>¦`¦\\¦"¦ ¦\n¦\n\n¦a¦b.c¦[a]: d\n¦\n\n[a]: <e f> "t"\n'.split('¦'),
      ..."'¦<i>¦&amp;¦#¦![¦``".split('¦'),
    );
    fc.assert(
      fc.property(fc.array(piece, { maxLength: 14 }), (pieces) => {
        const body = `p ${pieces.join('')}`;
        // Here markdown-it differs from CommonMark: blank labels, a bracket at the end of the paragraph, and
        // a label followed by brackets that are not a target.
        fc.pre(!/\]\[\s+\]|\]\(\s*(?:\n\n|$)|\n[ ]*>|\]\([^)]*[[(]/.test(body));
        assert.deepEqual(targets(body).sort(), expectedTargets(body).sort(), JSON.stringify(body));
      }),
      // A fixed seed: in rare cases markdown-it has more quirks than those listed here.
      { numRuns: 1000, seed: 1116 },
    );
  });

  const numbered = (size: number) => Array.from({ length: size }, (_, at) => `folder/with/a/long/name/${at}`);
  const many: Record<string, (size: number) => [body: string, expected: string[]]> = {
    'brackets within brackets': (size) => [`${'['.repeat(size)}${']'.repeat(size)}`, []],
    'the same link in many paragraphs': (size) => ['`a` [a](b)\n\n'.repeat(size), ['b']],
    'the same link many times in a paragraph': (size) => ['[a](b) '.repeat(size), ['b']],
    'many links': (size) => [
      numbered(size)
        .map((path) => `[a](${path})`)
        .join(' '),
      numbered(size),
    ],
    'code marks of many lengths': (size) => [
      Array.from({ length: Math.sqrt(size) * 20 }, (_, at) => '`'.repeat(at)).join(' ]'),
      [],
    ],
  };
  for (const piece of ['[', '](', '[a](', '![', '<a ', '[a]: ', '[a]: b\n', '<', '(']) {
    many[`${JSON.stringify(piece)} many times`] = (size) => [piece.repeat(size), []];
  }
  for (const [name, make] of Object.entries(many)) {
    it(name, () => {
      const [body, expected] = make(20_000);
      assert.deepEqual(targets(body), expected);
    });
  }
});

function expectedTargets(body: string): string[] {
  const markdown = new MarkdownIt({ html: true });
  // Filechat also finds links in quotes, lists and raw HTML; only links within paragraphs are compared.
  markdown.disable(['html_block', 'blockquote', 'heading', 'lheading', 'list', 'hr', 'code', 'table']);
  markdown.validateLink = () => true;
  markdown.normalizeLink = (link) => link;
  const found = new Set<string>();
  const visit = (tokens: ReturnType<typeof markdown.parse>) => {
    for (const token of tokens) {
      const target = token.attrGet('href') ?? token.attrGet('src');
      const local = target === null ? undefined : localTarget(String(target));
      if (local !== undefined) found.add(local);
      if (token.children) visit(token.children);
    }
  };
  visit(markdown.parse(body, {}));
  return [...found];
}
