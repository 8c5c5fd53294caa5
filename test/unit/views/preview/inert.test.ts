import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import fc from 'fast-check';
import { isLocal } from '../../../../src/views/preview/inert.ts';
import { eachCase } from '../../chat/eachCase.ts';
import { addLines, createPlain, createPreview, render } from './helpers.ts';

/** Markup that would make a request, open a window or run a script. */
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
    'a video with a poster': '<video poster="https://evil.test/a.png"></video>',
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
    'an address with a tab in its scheme': '<img src="ht\ttps://evil.test/a.png">',
    'an address with a control character before it': '<img src="\u0001https://evil.test/a.png">',
    'an address with a tab between its slashes': '<img src="/\t/evil.test/a.png">',
    'a video that plays automatically': '<video autoplay src="a.mp4"></video>',
    'a table with a background': '<table background="https://evil.test/a.png"><tr><td>x</table>',
    'an object': '<object data="https://evil.test/a.svg"></object>',
    'a link that is drawn': '<a href="https://evil.test"><img src="https://evil.test/a.png"></a>',
    'an empty comment': '<!--><link rel=stylesheet href="https://evil.test/a.css"> -->',
    'an empty comment with a dash': '<!---><style>@import "https://evil.test/a.css"</style> -->',
    'a comment that ends in another way': '<!-- --!><base href="https://evil.test/"> -->',
    'a comment that is already complete': '<!--><img src="https://evil.test/a.png"> -->',
  };
  for (const [name, text] of Object.entries(hostile)) {
    for (const role of ['user', 'assistant', 'tool a.b c1', 'system']) {
      it(`${name}, in the turn of ${role}`, () => {
        const html = render(`# %% ${role}\n${text}\n`);
        assert.doesNotMatch(html, ACTIVE);
        assert.doesNotMatch(html, /<[^>]*\s(?:on\w+|style|poster|srcset|background|autoplay)[\s=>]/i);
      });
    }
  }
});

/** Every attribute by which a browser loads something. */
const LOADING =
  /<[a-z][^>]*?\s(?:src|srcset|poster|background|data|style|xlink:href)\s*=\s*("[^"]*"|[^\s>]*)/gi;
const LOADING_TAG =
  /<(?:iframe|script|style|link|base|object|embed|form|input|meta|svg|math|template|frame)[\s/>]/i;

function loadsRemote(page: string): boolean {
  const html = page.replace(/<!--(?:-?>|[\s\S]*?(?:--!?>|$))/g, '');
  const values = [...html.matchAll(LOADING)].map(([, value = '']) => value.replaceAll('"', ''));
  // A browser reads an address without its tabs and line breaks, and without characters before it.
  return LOADING_TAG.test(html) || values.some((value) => isRemote(value.replaceAll('&amp;', '&')));
}

function isRemote(value: string): boolean {
  const url = new URL(value, 'https://beside.test/chat/');
  return url.origin !== 'https://beside.test' && url.protocol !== 'data:';
}

it('no text loads anything remote', () => {
  const piece = fc.constantFrom(
    ...'<img src="¦<img ¦<video ¦<audio src="¦<source ¦src=¦srcset="¦poster="¦"¦\'¦>¦<'.split('¦'),
    ...'https://evil.test/a.png¦//evil.test¦\\\\evil.test¦h\tttps://evil.test'.split('¦'),
    ...'&#104;ttps://evil.test¦\u0001https:¦![x](¦[x](¦)¦![x][r]¦\n\n[r]: ¦\n¦\n\n¦```'.split('¦'),
    ...'```mermaid\n¦:::mermaid\n¦<details>¦</div>¦<!--¦--!¦-->¦<b¦<style>¦<svg>'.split('¦'),
    ...'<link href="¦<base href="¦a.png¦ ¦/¦\t¦<span data-diff-start="¦# %% tool a.b c1\n'.split('¦'),
    ...'# %% assistant\n¦> ⚠ ¦```tool_call a.b c1\n¦cmdassets/a.mp3¦$$¦`'.split('¦'),
  );
  const text = fc.array(fc.oneof({ weight: 8, arbitrary: piece }, fc.string({ maxLength: 6 })), {
    maxLength: 24,
  });
  fc.assert(
    fc.property(text, (pieces) => {
      assert.equal(loadsRemote(render(pieces.join(''))), false);
    }),
    { numRuns: 600 },
  );
});

it('the check of the test above detects remote addresses', () => {
  for (const html of [
    '<img src="https://e.test/a">',
    '<img src="h\tttps://e.test">',
    '<style>',
    '<video poster=//e.test>',
  ]) {
    assert.equal(loadsRemote(html), true, html);
  }
  assert.equal(loadsRemote('<img src="cmdassets/a.png">'), false);
});

it('an address is local only if a browser finds it here', () => {
  const part = fc.constantFrom(...'http:¦https¦:¦//¦/¦\\¦\t¦\n¦\u0000¦ ¦evil.test¦a.png¦.¦?¦#'.split('¦'));
  fc.assert(
    fc.property(fc.array(part, { maxLength: 6 }), (parts) => {
      const address = parts.join('');
      if (isLocal(address) && URL.canParse(address, 'https://beside.test/chat/'))
        assert.equal(isRemote(address), false);
    }),
    { numRuns: 1_000 },
  );
});

describe('markup of other extensions is text in a chat', () => {
  it('highlighting is kept', () => {
    const md = createPreview();
    md.set({ highlight: (text) => `<span class="hljs-keyword">${text}</span>` });
    const html = render('# %% user\n```js\nlet\n```\n', '/a.chat.md', md);
    assert.match(html, /<span class="hljs-keyword">let/);
  });

  it('a container', () => {
    const md = createPreview();
    md.block.ruler.before('fence', 'container', (state, line, end, silent) => {
      if (!state.getLines(line, line + 1, 0, false).startsWith(':::mermaid')) return false;
      if (silent) return true;
      const token = state.push('mermaidContainer', 'div', 1);
      Object.assign(token, { content: state.getLines(line + 1, end, 0, true), map: [line, end] });
      state.line = end;
      return true;
    });
    md.renderer.rules['mermaidContainer'] = () => '<div class="mermaid"></div>';
    const html = render('# %% tool a.b c1\n:::mermaid\ngraph\n\n# %% user\nHello\n', '/a.chat.md', md);
    assert.doesNotMatch(html, /class="mermaid"/);
    // Left open, it would take the rest of the file with it.
    assert.match(html, /aria-label="You"[\s\S]*<p[^>]*>Hello/);
  });
});

describe('the preview of a chat shows local files', () => {
  const shown: Record<string, [text: string, expected: RegExp]> = {
    'an image': ['![x](cmdassets/a.png)', /<img src="cmdassets\/a\.png" alt="x" loading="lazy">/],
    'an image in its address': ['![x](data:image/png;base64,AAAA)', /<img src="data:image\/png;base64,AAAA"/],
    'an SVG, as an image': ['![x](cmdassets/a.svg)', /<img src="cmdassets\/a\.svg" alt="x"/],
    'an image tag': ['a <img src="my picture.png" alt="x">', /<img src="my picture.png" alt="x">/],
    audio: ['<audio controls src="cmdassets/a.mp3"></audio>', /<audio controls src="cmdassets\/a\.mp3">/],
    'a detail': ['<details>\n<summary>More</summary>\n\nx\n\n</details>', /<details>\n<summary>/],
    'nothing of a comment': ['a <!-- next block --> b', /a {2}b/],
    'nothing of a long comment': [`a <!-- ${'x'.repeat(5000)} --> b`, /a {2}b/],
    'an image with a note that it was not loaded': ['![a <b>](https://e.test/"x)', /not loaded/],
    'a comparison': ['a <span data-diff-start="0"></span>b', /<span data-diff-start="0"><\/span>b/],
  };
  eachCase(shown, (text, expected) => assert.match(render(text), expected));
});

it('the preview keeps the address as it was written', () => {
  const md = createPreview();
  const [token] = md.parseInline('![x](a.png)', {})[0]?.children ?? [];
  token?.attrSet('data-src', 'https://evil.test/a.png');
  const html = md.renderer.render([token ?? assert.fail()], md.options, {
    currentDocument: { path: '/a.chat.md' },
  });
  assert.doesNotMatch(html, /<img/);
});

it('two versions that are compared have no name, and are inert too', () => {
  const html = createPreview().render('# %% user\n![x](https://evil.test/a.png)\n', {});
  assert.doesNotMatch(html, ACTIVE);
  assert.match(html, /filechat-turn/);
});

describe('other Markdown files are unchanged', () => {
  const plain = addLines(createPlain());
  const texts = [
    '![x](https://example.test/a.png) <img src="https://example.test/b.png">',
    '# %% user\nHello [a](a.pdf) [b](cmdassets/b.mp3)\n\n```tool_call a.b c1\n{}\n```\n',
    '---\nmodel: x\n---\n> ⚠ no\n\n<details><summary>Reasoning</summary>\n\nx\n\n</details>\n',
  ];
  for (const text of texts) {
    it(JSON.stringify(text.slice(0, 20)), () =>
      assert.equal(render(text, '/notes/readme.md'), plain.render(text)),
    );
  }
});
