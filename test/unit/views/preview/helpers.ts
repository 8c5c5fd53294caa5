import Markdown, { type MarkdownIt } from 'markdown-it';
import { previewChats } from '../../../../src/views/preview/chatPreview.ts';
import type { PreviewOptions, PreviewWords } from '../../../../src/views/preview/options.ts';

export const WORDS: PreviewWords = {
  locale: 'en',
  you: 'You',
  assistant: 'Assistant',
  tool: 'Tool',
  system: 'System',
  reasoning: 'Reasoning',
  copy: 'Copy code',
  copied: 'Copied',
  image: 'Image',
  openImage: 'Show larger',
  close: 'Close',
  model: 'Model',
  servers: 'Servers',
  writing: 'Writing…',
  unfinishedCall: 'not finished',
  notLoaded: 'not loaded: it is on the internet',
  generated: (kind, number) => `${kind} ${number}`,
  interrupted: (reason) => `Interrupted: ${reason}`,
  lines: (count) => `${count} lines`,
};

/** As the preview of VS Code makes one: plugins first, then rules of its own around theirs. */
export function createPreview(options: Partial<PreviewOptions> = {}): MarkdownIt {
  const md = previewChats(createPlain(), { words: WORDS, ...options });
  return addLines(md);
}

export function createPlain(): MarkdownIt {
  return new Markdown({ html: true, linkify: true });
}

/** VS Code adds these to every document for scroll synchronization. */
export function addLines(md: MarkdownIt): MarkdownIt {
  md.core.ruler.push('lines', ({ tokens }) => {
    for (const token of tokens) {
      if (!token.map || token.type === 'inline') continue;
      token.attrSet('data-line', String(token.map[0]));
      token.attrJoin('class', 'code-line');
    }
  });
  return md;
}

const shared = createPreview();

export function render(text: string, path = '/notes/a.chat.md', md = shared): string {
  return md.render(text, { currentDocument: { path } });
}
