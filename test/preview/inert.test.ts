import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import MarkdownIt from 'markdown-it';
import { makeChatsInert } from '../../src/preview/inert.ts';

const md = makeChatsInert(new MarkdownIt({ html: true, linkify: true }));
const render = (text: string, path = '/notes/a.chat.md') => md.render(text, { currentDocument: { path } });

/** What would make a request, a window or a script. */
const ACTIVE = /<(?:img|audio|video|source|iframe|script|style|link|base|object|embed|form|meta|svg)\b/i;

describe('in the preview of a chat, nothing is active', () => {
  const hostile: Readonly<Record<string, string>> = {
    'an image over https': '![x](https://evil.test/a.png)',
    'an image over http': '![x](http://evil.test/a.png)',
    'an image without a scheme': '![x](//evil.test/a.png)',
    'an image by reference': '![x][r]\n\n[r]: https://evil.test/a.png',
    'an image in a link': '[![x](https://evil.test/a.png)](https://evil.test)',
    'an SVG in its address': '![x](data:image/svg+xml,%3Csvg/%3E)',
    'a file of this machine': '![x](file:///etc/passwd)',
    'an image tag': 'a <img src="https://evil.test/a.png"> b',
    'an image tag alone': '<img src=https://evil.test/a.png>',
    'an image tag with a reference in its address': '<img src="&#104;ttps://evil.test/a.png">',
    'an image tag with an event': '<img src="a.png" onerror="x()">',
    'an image tag with a set of sources': '<img srcset="https://evil.test/a.png 2x">',
    'an image tag with a style': '<img src="a.png" style="background:url(https://evil.test)">',
    'a film with a poster': '<video poster="https://evil.test/a.png"></video>',
    'a frame': '<iframe src="https://evil.test"></iframe>',
    'a style sheet': '<style>@import "https://evil.test/a.css";</style>',
    'a link to a style sheet': '<link rel=stylesheet href="https://evil.test/a.css">',
    'a base': '<base href="https://evil.test/">',
    'a script': '<script>alert(1)</script>',
    'a drawing': '<svg><image href="https://evil.test/a.png"/></svg>',
    'a form': '<form action="https://evil.test"><input></form>',
    'a page that refreshes': '<meta http-equiv="refresh" content="0;url=https://evil.test">',
    'a detail with an image in it':
      '<details><summary>s</summary><img src="https://evil.test/a.png"></details>',
    'a tag without an end': `<img${' '.repeat(100_000)}src="https://evil.test/a.png">`,
    'a comment that is no comment': '<!--><img src="https://evil.test/a.png"> -->',
  };
  for (const [name, text] of Object.entries(hostile)) {
    it(name, () => {
      const html = render(text);
      assert.doesNotMatch(html, ACTIVE);
      assert.doesNotMatch(html, /<[^>]*\s(?:on\w+|style|poster|srcset)=/i);
    });
  }
});

describe('in the preview of a chat, what lies beside it is shown', () => {
  const shown: Readonly<Record<string, readonly [string, RegExp]>> = {
    'an image': ['![x](cmdassets/a.png)', /<img src="cmdassets\/a\.png" alt="x">/],
    'an image in its address': ['![x](data:image/png;base64,AAAA)', /<img src="data:image\/png;base64,AAAA"/],
    'a sound': ['<audio controls src="cmdassets/a.mp3"></audio>', /<audio controls src="cmdassets\/a\.mp3">/],
    'a detail': ['<details>\n<summary>Reasoning</summary>\n\nx\n\n</details>', /<details>\n<summary>/],
    'a comment': ['a <!-- next block --> b', /a <!-- next block --> b/],
    'an image that says it was not loaded': ['![a <b>](https://e.test/"x)', /not loaded/],
  };
  for (const [name, [text, expected]] of Object.entries(shown)) {
    it(name, () => assert.match(render(text), expected));
  }
});

it('the preview keeps the address as it was written', () => {
  const [token] = md.parseInline('![x](a.png)', {})[0]?.children ?? [];
  token?.attrSet('data-src', 'https://evil.test/a.png');
  const html = md.renderer.render([token ?? assert.fail()], md.options, {
    currentDocument: { path: '/a.chat.md' },
  });
  assert.doesNotMatch(html, /<img/);
});

it('other Markdown files are shown as ever', () => {
  const text = '![x](https://example.test/a.png) <img src="https://example.test/b.png">';
  assert.equal(render(text, '/notes/readme.md'), new MarkdownIt({ html: true }).render(text));
});
