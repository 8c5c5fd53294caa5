import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createPreview, render } from './helpers.ts';

/** As the extension of VS Code does it: the source is the text of an element, which a script draws. */
const drawing = createPreview();
drawing.set({
  highlight: (text, language) => {
    const source = text.replaceAll('&', '&amp;').replaceAll('<', '&lt;').replaceAll('>', '&gt;').trim();
    return /\bmermaid\b/i.test(language) ? `<pre class="mermaid" style="all: unset;">${source}</pre>` : '';
  },
});
const draw = (source: string, role = 'assistant') =>
  render(`# %% ${role}\n~~~mermaid\n${source}\n~~~\n`, '/a.chat.md', drawing);

describe('a diagram is drawn', () => {
  const sources: Readonly<Record<string, string>> = {
    'of nodes': 'graph TD; A-->B & C',
    'with shapes, styles and lines': 'flowchart LR\nA[Is it?] -->|Yes| B["one<br/>two"]\nstyle A fill:#f9f',
    'of messages': 'sequenceDiagram\nA->>B: HTTP: 1 < 2\nB-->>A: get the details',
    'of classes': 'classDiagram\nclass A {\n<<interface>>\n}\nA <|-- B~int~',
    'of states': 'stateDiagram-v2\n[*] --> A\nstate f <<fork>>',
    'of entities': 'erDiagram\nA ||--o{ B : has\nB {\nint id PK\n}',
    'below a comment': '%% Pets\npie title Pets\n"Dogs" : 3',
  };
  for (const [name, source] of Object.entries(sources)) {
    it(name, () => assert.match(draw(source), /<div data-line="1" class="code-line"><pre class="mermaid"/));
  }

  it('in the result of a tool, however long it is', () => {
    const nodes = Array.from({ length: 30 }, (_, at) => `A --> B${at}`).join('\n');
    assert.match(draw(`graph TD\n${nodes}`, 'tool a.b c1'), /<pre class="mermaid"/);
  });

  it('is code while diagrams are switched off', () => {
    const html = render('# %% assistant\n```mermaid\ngraph TD; A-->B\n```\n');
    assert.match(html, /<pre><code class="code-line language-mermaid" data-line="1">graph TD; A--&gt;B/);
  });
});

/** Each of these made Mermaid 11.17 request an address in Chromium, or has what another one needs for it. */
describe('a diagram that can load something is code', () => {
  const sources: Readonly<Record<string, string>> = {
    'an image in a label': 'graph TD\nA["<img src=\'https://evil.test/a.png\'>"] --> B',
    'an image without a scheme': 'graph TD\nA["<img src=//evil.test/a.png>"] --> B',
    'an image in Markdown': 'graph TD\nA["`**a** <img src=//evil.test>`"]',
    'an image as a shape': 'flowchart TD\nA@{ img: "https:evil.test/a.png" }',
    'an image as a shape, with a space': 'flowchart TD\nA@ { img: "https:evil.test/a.png" }',
    'a hidden word': 'graph TD\nA["\\u003cimg"]',
    options: '%%{init: {"themeCSS": ".label{}"}}%%\ngraph TD\nA-->B',
    'front matter': '---\nconfig:\n  themeCSS: x\n---\ngraph TD\nA-->B',
    'the icon of a participant': 'sequenceDiagram\nproperties A: {"icon": "https:evil.test/a.png"}\nA->>B: x',
    'an icon after a statement': 'sequenceDiagram\nloop x\nend properties A: {"icon": "https:evil.test"}',
    'details of a participant': 'sequenceDiagram\ndetails A: heading',
    'a label of a state': 'stateDiagram-v2\ns1 : <img src=x>',
    'a style with an address': 'graph TD\nA-->B\nstyle A background:URL (a.png)',
    'a style with a set of images': 'graph TD\nclassDef x background:image-set("a.png" 1x)',
    'a style sheet': 'classDiagram\nclass A {\n<<style>>\n}',
    'a character reference': 'graph TD\nA["&lt;img src=x&gt;"]',
    'a kind with icons': 'architecture-beta\nservice a(logos:aws-s3)[A]',
    'a kind with Markdown': 'zenuml\n// ![x](a.png)\nA.b()',
    'a kind that is hidden': 'zenuml\ngraph TD\nA-->B',
    'very long source': `graph TD\n${'A-->B\n'.repeat(5000)}`,
  };
  for (const [name, source] of Object.entries(sources)) {
    for (const role of ['assistant', 'tool a.b c1', 'user']) {
      it(`${name}, in the turn of ${role}`, () => {
        const html = draw(source, role);
        assert.doesNotMatch(html, /class="mermaid"/);
        assert.match(html, /<pre><code/);
      });
    }
  }

  it('and so is other markup for a diagram, and another language', () => {
    const md = createPreview();
    md.set({ highlight: (text) => `<pre class="mermaid" onclick="x()">${text}</pre>` });
    assert.doesNotMatch(render('# %% user\n```mermaid\npie\n```\n', '/a.chat.md', md), /class="mermaid"/);
    const html = render('# %% user\n```x-mermaid\npie\n```\n', '/a.chat.md', drawing);
    assert.doesNotMatch(html, /class="mermaid"/);
  });
});
