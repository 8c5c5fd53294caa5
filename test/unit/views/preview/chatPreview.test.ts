import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { renderOwnCall } from '../../../../src/chat/reply/escapeReply.ts';
import { REASONING_HEAD } from '../../../../src/chat/reply/notes.ts';
import { createFormats } from '../../../../src/views/preview/html.ts';
import { eachCase } from '../../chat/eachCase.ts';
import { createPreview, render } from './helpers.ts';

const ASSET = 'cmdassets/tool-audio-20261116-093012-V1StGXR8a0-1.wav';

it('a call that the provider ran is folded, with its query in one line', () => {
  const call = renderOwnCall({
    kind: 'ownCall',
    name: 'web_search',
    query: 'a <b> c',
    text: 'a <b> c\n\n1. x',
  });
  const html = render(`# %% assistant\nSo:\n\n${call}\n\nYes.`);
  assert.match(html, /<details><summary>Web search: a b c<\/summary>\n<div class="filechat-code"><pre><code/);
  assert.match(html, />a &lt;b&gt; c\n\n1\. x\n?<\/code><\/pre>[\s\S]*<\/details>\n<p[^>]*>Yes\./);
});

describe('a turn is a card', () => {
  const cases: Record<string, [text: string, expected: RegExp]> = {
    'of the user': ['# %% user\nHi', /<article class="filechat-turn filechat-user" aria-label="You">/],
    'of text above the first marker': ['Hi', /filechat-user/],
    'of the assistant': ['# %% assistant\nHi', /<span class="filechat-name">Assistant<\/span>/],
    'of a tool, with its name': [
      '# %% tool charts.bar c1\nx',
      /aria-label="Tool: charts\.bar">[\s\S]*<span class="filechat-detail">charts\.bar<\/span><\/div>/,
    ],
    'of the system': ['# %% system\nBe terse.', /filechat-system/],
    'with the line of its marker': ['\n# %% user\nHi', /class="filechat-head code-line" data-line="1"/],
    'whose elements have the lines of the file': [
      '---\nmodel: x\n---\n# %% user\nA\n\n# %% assistant\n\nB',
      /<p data-line="4" class="code-line">A<[\s\S]*<p data-line="8" class="code-line">B</,
    ],
    'with the time of its asset': [
      `# %% tool a.b c1\n[Tool generated audio 1](${ASSET})`,
      /<time class="filechat-time" datetime="2026-11-16T09:30:12">Nov 16, 2026, 9:30/,
    ],
    'with words that cannot be tags': ['# %% user <b>"\nx', /aria-label="You: &lt;b&gt;&quot;"/],
  };
  eachCase(cases, (text, expected) => assert.match(render(text), expected));

  it('and its marker is not a heading', () => assert.doesNotMatch(render('# %% user\nHi'), /<h1|%%/));

  it('but an empty question at the end is not shown', () => {
    assert.equal(render('# %% assistant\nHi\n\n# %% user\n').match(/<article/g)?.length, 1);
    assert.equal(render('# %% user\n\n# %% assistant\n').match(/<article/g)?.length, 2);
  });

  it('and ends HTML that another turn leaves open', () => {
    const html = render('# %% user\n```\ncode\n<!-- and\n\n# %% assistant\n<b>bold\n\n# %% user\nplain\n');
    // The fence is never closed, so the rest of the file is the user's code.
    assert.equal(html.match(/<article/g)?.length, 1);
    const cards = render('# %% user\n<!-- a\n\n# %% assistant\n<b>bold <i>x</i>\n\n# %% user\nplain\n');
    assert.equal(cards.match(/<article/g)?.length, 3);
    assert.match(cards, /<b>bold <i>x<\/i><\/p>\n<\/b><\/div>/);
  });

  it('whose references are its own', () => {
    const html = render('# %% user\n[a]\n\n# %% tool a.b c1\n[a]: https://evil.test\n\nx');
    assert.doesNotMatch(html, /href/);
  });
});

describe('a call', () => {
  const call = (text: string, info = 'tool_call charts.bar c1') =>
    render(`# %% assistant\n\`\`\`${info}\n${text}\n\`\`\`\n`);

  it('is one line, with its arguments below it', () => {
    const html = call('{"title": "Sales", "values": [3, 5, 8], "a-b": null}');
    assert.match(
      html,
      /<summary>.*<code><b>charts\.bar<\/b>\(\{title: &quot;Sales&quot;, values: \[3, 5, 8\], &quot;a-b&quot;: null\}\)<\/code><\/summary>/,
    );
    assert.match(
      html,
      /<code class="code-line language-json" data-line="1">\{\n {2}&quot;title&quot;: &quot;Sales&quot;,\n/,
    );
  });

  it('with long arguments is cut', () => {
    const html = call(
      JSON.stringify({ text: 'x'.repeat(5000), list: Array.from({ length: 500 }, (_, i) => i) }),
    );
    const line = /<summary>(.*)<\/summary>/.exec(html)?.[1] ?? '';
    assert.ok(line.length < 400, line);
    assert.match(line, /…/);
  });

  it('without arguments has none', () => assert.match(call(''), /charts\.bar<\/b>\(\)<\/code>/));
  it('that cannot be read is shown as it is', () =>
    assert.match(call('{"a": <b>'), /\(\{&quot;a&quot;: &lt;b&gt;\)/));
  it('that is partial is marked', () => {
    assert.match(call('{"a', 'tool_call_partial charts.bar'), /charts\.bar<\/b>.*not finished/);
  });
  it('in the text of a tool is text', () => {
    assert.doesNotMatch(render('# %% tool a.b c1\n```tool_call a.b c1\n{}\n```'), /filechat-call/);
  });
});

describe('results and replies', () => {
  const long = Array.from({ length: 40 }, (_, line) => `line ${line}`).join('\n');
  const cases: Record<string, [text: string, expected: RegExp]> = {
    'a long result is folded': [
      `# %% tool a.b c1\n\`\`\`\n${long}\n\`\`\``,
      /<details class="filechat-long"><summary><code>line 0<\/code> <span class="filechat-about">40 lines</,
    ],
    'code has a button': [
      '# %% user\n```js\nx\n```',
      /<\/pre><button type="button" class="filechat-copy" aria-label="Copy code"/,
    ],
    'reasoning is folded': [
      `# %% assistant\n${REASONING_HEAD}\n\n\`\`\`\`reasoning\nhm\n\`\`\`\`\n\n</details>\n\nYes.`,
      /<details class="filechat-reasoning"><summary[^>]*>Reasoning<\/summary>[\s\S]*language-reasoning/,
    ],
    'a problem is a warning': [
      '# %% tool a.b c1\n> ⚠ Block 2: no',
      /<blockquote[^>]* class="[^"]*filechat-warning"/,
    ],
    'an interrupted reply is marked': [
      '# %% assistant\nI was\n<!-- filechat:interrupted the <connection> was lost -->\n',
      /I was<\/p>\n<p class="filechat-note filechat-interrupted">Interrupted: the &lt;connection&gt; was lost/,
    ],
    'a reply that is being written is marked, and its open code ends there': [
      '# %% assistant\n```js\nlet\n<!-- filechat:writing abc -->\n',
      />let\n<\/code>[\s\S]*<p class="filechat-note filechat-writing">Writing/,
    ],
  };
  eachCase(cases, (text, expected) => assert.match(render(text), expected));

  it('a short result and long code of others are not folded', () => {
    assert.doesNotMatch(render('# %% tool a.b c1\n```\nx\n```'), /filechat-long/);
    assert.doesNotMatch(render(`# %% user\n\`\`\`\n${long}\n\`\`\``), /filechat-long/);
  });

  it('lines that only close an open fence are not shown', () => {
    const html = render('# %% assistant\nx\n````end\n````\n<!-- filechat:closed 2 -->\n');
    assert.doesNotMatch(html, /<pre/);
  });

  it('rendering again changes nothing', () => {
    const md = createPreview();
    const text = '# %% tool a.b c1\n> ⚠ no\n\n[a](cmdassets/a.pdf) ![x](a.png)\n';
    const tokens = md.parse(text, {});
    const env = { currentDocument: { path: '/a.chat.md' } };
    const first = md.renderer.render(tokens, md.options, env);
    assert.equal(md.renderer.render(tokens, md.options, env), first);
    const moved = md.render(`# %% user\nHi\n\n${text}`, env);
    assert.match(moved, /<blockquote data-line="4" class="code-line filechat-warning"/);
  });
});

describe('files', () => {
  const cases: Record<string, [text: string, expected: RegExp]> = {
    'audio has a player, and its link below': [
      `[Tool generated audio 1](${ASSET})`,
      /<span class="filechat-media"><audio controls preload="metadata" src="cmdassets[^"]*\.wav" aria-label="audio 1"><\/audio><a href="cmdassets/,
    ],
    'a video has a player': ['[a](clip.webm)', /<video controls [^>]*src="clip\.webm"/],
    'a PDF is a chip with its own name': [
      '[Tool generated file 1: q.pdf](cmdassets/x.pdf)',
      /<a href="cmdassets\/x\.pdf" class="filechat-chip filechat-kind-pdf" title="x\.pdf">.*>q\.pdf <span class="filechat-about">1\.2 KB<\/span><\/a>/,
    ],
    'a file without a name is named by its kind and number': [
      '[Tool generated file 2](cmdassets/x.zip)',
      /title="x\.zip">.*>file 2 <span/,
    ],
    'an image of a tool is named by its number, with its file in the tooltip': [
      '![Tool generated image 1](cmdassets/x.png)',
      /title="Show larger\nx\.png"><img src="cmdassets\/x\.png" alt="image 1"/,
    ],
    'every file of a result is a chip': [
      `[Tool generated audio 1](${ASSET})\n\n[Tool generated file 1](cmdassets/x.zip)`,
      /filechat-kind-audio[\s\S]*filechat-kind-archive.*<span class="filechat-about">ZIP · 1\.2 KB</,
    ],
    'an image opens with a button': [
      '![x](a.png)',
      /<button type="button" class="filechat-image" aria-haspopup="dialog" title="Show larger"><img/,
    ],
    'an image without alternative text has a label': ['![](a.png)', /aria-label="Image"><img/],
    'an image in a link is a link': ['[![x](a.png)](a.html)', /<a href="a\.html"><img/],
    'a link to the web is a link': [
      '[a](https://example.test/a.mp3)',
      /<p[^>]*><a href="https:\/\/example\.test\/a\.mp3">a<\/a><\/p>/,
    ],
    'a link within the page is a link': ['[a](#b.mp3)', /<a href="#b\.mp3">a<\/a>/],
    'a link to a path from the root is a link': ['[a](/b.mp3)', /<a href="\/b\.mp3">a<\/a>/],
  };
  const md = createPreview({
    sizeOf: (_document, href) => (href.startsWith('cmdassets/') ? 1234 : undefined),
  });
  eachCase(cases, (text, expected) =>
    assert.match(render(`# %% tool a.b c1\n${text}\n`, '/a.chat.md', md), expected),
  );

  it('that a model made are shown in its reply like those of tools', () => {
    const path = (kind: string, ending: string) =>
      `cmdassets/model-${kind}-20261116-093012-V1StGXR8a0-1.${ending}`;
    const links = [
      `![Model generated image 1](${path('image', 'png')})`,
      `[Model generated audio 1](${path('audio', 'wav')})`,
      `[Model generated file 1: sales.csv](${path('file', 'csv')})`,
    ];
    const html = render(`# %% assistant\n${links.join('\n\n')}\n`, '/a.chat.md', md);
    assert.match(
      html,
      /<button [^>]*class="filechat-image"[^>]*><img src="cmdassets\/model-image-\S+" alt="image 1"/,
    );
    assert.match(html, /<audio controls [^>]*src="cmdassets\/model-audio-\S+" aria-label="audio 1">/);
    assert.match(
      html,
      /class="filechat-chip filechat-kind-table" title="model-file-\S+">.*>sales\.csv <span/,
    );
  });

  it('in a reply only assets are chips', () => {
    assert.match(render('# %% assistant\n[a](src/a.ts)'), /<a href="src\/a\.ts">a<\/a>/);
    assert.match(render('# %% assistant\n[a](cmdassets/a.csv)'), /filechat-chip filechat-kind-table/);
  });

  it('only some of many players preload metadata', () => {
    const html = render(`# %% user\n${'[a](a.mp3)\n\n'.repeat(50)}`);
    assert.equal(html.match(/preload="metadata"/g)?.length, 20);
    assert.equal(html.match(/preload="none"/g)?.length, 30);
  });

  it('sizes are short', () => {
    const sizes = [0, 999, 1000, 1500, 10_240, 999_600, 5e9];
    assert.deepEqual(
      sizes.map((size) => createFormats('en').size(size)),
      ['0 bytes', '999 bytes', '1.0 KB', '1.5 KB', '10.2 KB', '999.6 KB', '5.0 GB'],
    );
  });
});

describe('front matter', () => {
  const front =
    '---\ntitle: "A \\"b\\" <c>"\nmodel: sonnet  # a name\nservers: [charts, "files"]\napprove: ask\n---\n# %% user\nHi';
  it('is one line', () => {
    const expected =
      '<div class="filechat-front"><span class="filechat-title">A &quot;b&quot; &lt;c&gt;</span> <span class="filechat-model"><span>Model</span> sonnet</span> <span class="filechat-servers"><span>Servers</span> charts, files</span></div>';
    assert.ok(render(front).includes(expected), render(front));
  });
  it('is hidden if the user hides it', () => {
    const md = createPreview({ showsFrontMatter: () => false });
    assert.doesNotMatch(render(front, '/a.chat.md', md), /sonnet|filechat-front/);
  });
});

it('a chat of a thousand turns is parsed once', () => {
  const turns = (count: number) =>
    Array.from({ length: count }, (_, turn) => `# %% user\nQuestion ${turn} with *words*\n`).join('\n');
  const md = createPreview();
  let parsed = 0;
  md.core.ruler.push('count', () => {
    parsed += 1;
  });
  render(turns(1000), '/a.chat.md', md);
  parsed = 0;
  render(`${turns(1000)}\n# %% assistant\nOne more`, '/a.chat.md', md);
  // The document, which the preview parses itself, and the turns that are new.
  assert.ok(parsed <= 3, String(parsed));
});
