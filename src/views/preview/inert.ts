import type { MarkdownIt, RendererRule } from 'markdown-it';
import { toHtml } from './html.ts';
import type { PreviewedDocument, PreviewWords } from './options.ts';

/**
 * Makes chats inert in the preview: nothing remote is loaded, and of HTML only what cannot load, run or cover
 * anything is HTML. Other Markdown files are shown as ever.
 */
export function makeChatsInert(
  md: MarkdownIt,
  applies: IsChat,
  words: Pick<PreviewWords, 'notLoaded'>,
): void {
  replaceRule(md, 'image', (original) => (tokens, index, options, env, self) => {
    const token = tokens[index];
    // The preview keeps the address as it was written when it puts its own in the place of it.
    const address = String(token?.attrGet('data-src') ?? token?.attrGet('src') ?? '');
    if (!applies(env) || isLocal(address)) return original(tokens, index, options, env, self);
    const [text, target] = [token?.content || address, address].map(toHtml);
    return `<a href="${target}" title="${target}">${text} (${toHtml(words.notLoaded)})</a>`;
  });
  for (const name of ['html_block', 'html_inline']) {
    replaceRule(md, name, (original) => (tokens, index, options, env, self) => {
      const token = tokens[index];
      if (!token || !applies(env)) return original(tokens, index, options, env, self);
      const html = token.content.replace(COMMENT, '');
      if (isHarmless(html)) {
        token.content = html;
        return original(tokens, index, options, env, self);
      }
      const text = toHtml(token.content);
      return name === 'html_block' ? `<pre><code>${text}</code></pre>\n` : `<code>${text}</code>`;
    });
  }
}

/** Whether what is rendered now belongs to a chat. */
export type IsChat = (env: unknown) => boolean;

export function replaceRule(
  md: MarkdownIt,
  name: string,
  wrap: (original: RendererRule) => RendererRule,
): void {
  const { rules } = md.renderer;
  rules[name] = wrap(
    rules[name] ?? ((tokens, index, options, _env, self) => self.renderToken(tokens, index, options)),
  );
}

/** What the preview of VS Code tells its plugins about the document. */
export function documentOf(env: unknown): PreviewedDocument | undefined {
  return (env as { readonly currentDocument?: PreviewedDocument } | undefined)?.currentDocument;
}

/** With no scheme and no host; images may be in the address itself. */
export function isLocal(address: string): boolean {
  // Browsers drop some of these before they read an address, so that they could hide what it is.
  if (/[\u0000-\u001f\u007f-\u009f]/.test(address)) return false;
  return (
    /^data:image\/(?:png|jpeg|gif|webp);/i.test(address) ||
    !/^\s*(?:[\\/]{2}|[a-z][a-z0-9+.-]*:)/i.test(address)
  );
}

/** As browsers read them: `<!-->` is a whole one, `--!>` ends one too, and one that nothing ends goes on to the end. */
const COMMENT = /<!--(?:-?>|[\s\S]*?(?:--!?>|$))/g;

/** Tags that only set text, with no attributes, and the marks that the preview puts into a comparison. */
const PLAIN =
  /^(?:[^<]|<\/?(?:details|summary|br|hr|b|i|em|strong|u|s|del|ins|sub|sup|kbd|mark|p|ul|ol|li|blockquote)\s*\/?>|<details open>|<span data-diff-(?:start|end)="\d+">|<\/span>)*$/i;
/** A picture, sound or film that lies beside the chat. */
const MEDIA = /<(?:img|audio|video|source)((?:\s+[a-z-]+(?:="[^"<>]*")?)*)\s*\/?>|<\/(?:audio|video)>/gi;
const ATTRIBUTE = /([a-z-]+)(?:="([^"<>]*)")?/gi;
const MEDIA_ATTRIBUTES: ReadonlySet<string> = new Set([
  'src',
  'alt',
  'title',
  'width',
  'height',
  'controls',
  'loop',
  'muted',
  'type',
]);

/** Nobody writes longer tags, and longer ones could take long to judge. */
const MAX_HTML_CHARS = 4000;

export function isHarmless(written: string): boolean {
  const html = written.replace(COMMENT, '');
  if (html.length > MAX_HTML_CHARS) return false;
  let isLocalOnly = true;
  const rest = html.replace(MEDIA, (_tag, attributes: string | undefined) => {
    isLocalOnly &&= areLocal(attributes ?? '');
    // What stood around it must not become a tag by its going.
    return 'x';
  });
  return isLocalOnly && PLAIN.test(rest);
}

function areLocal(attributes: string): boolean {
  return [...attributes.matchAll(ATTRIBUTE)].every(([, name = '', value = '']) => {
    if (!MEDIA_ATTRIBUTES.has(name.toLowerCase())) return false;
    // What is written as a character reference could be anything.
    return name.toLowerCase() !== 'src' || (isLocal(value) && !value.includes('&'));
  });
}
