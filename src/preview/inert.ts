import type { MarkdownIt, RendererRule } from 'markdown-it';

/** What the preview of VS Code tells its plugins about the document. */
interface PreviewEnvironment {
  readonly currentDocument?: { readonly path: string };
}

/**
 * Makes chats inert in the preview: nothing remote is loaded, and of HTML only what cannot load, run or cover
 * anything is HTML. Other Markdown files are shown as ever.
 */
export function makeChatsInert(md: MarkdownIt): MarkdownIt {
  replaceRule(md, 'image', (original) => (tokens, index, options, env, self) => {
    const token = tokens[index];
    // The preview keeps the address as it was written when it puts its own in the place of it.
    const address = String(token?.attrGet('data-src') ?? token?.attrGet('src') ?? '');
    if (!isChat(env) || isLocal(address)) return original(tokens, index, options, env, self);
    return remoteImage(token?.content ?? '', address, md.utils.escapeHtml);
  });
  for (const name of ['html_block', 'html_inline']) {
    replaceRule(md, name, (original) => (tokens, index, options, env, self) => {
      const html = tokens[index]?.content ?? '';
      if (!isChat(env) || isHarmless(html)) return original(tokens, index, options, env, self);
      const text = md.utils.escapeHtml(html);
      return name === 'html_block' ? `<pre><code>${text}</code></pre>\n` : `<code>${text}</code>`;
    });
  }
  return md;
}

function replaceRule(md: MarkdownIt, name: string, wrap: (original: RendererRule) => RendererRule): void {
  const { rules } = md.renderer;
  rules[name] = wrap(
    rules[name] ?? ((tokens, index, options, _env, self) => self.renderToken(tokens, index, options)),
  );
}

function isChat(env: unknown): boolean {
  return (env as PreviewEnvironment | undefined)?.currentDocument?.path.endsWith('.chat.md') === true;
}

/** With no scheme and no host; images may be in the address itself. */
function isLocal(address: string): boolean {
  return (
    /^data:image\/(?:png|jpeg|gif|webp);/i.test(address) ||
    !/^\s*(?:[\\/]\s*[\\/]|[a-z][a-z0-9+.-]*:)/i.test(address)
  );
}

function remoteImage(alt: string, address: string, toHtml: (text: string) => string): string {
  const [words, target] = [alt === '' ? 'image' : alt, address].map(toHtml);
  return `<a href="${target}" title="${target}">${words} (not loaded: it is on the internet)</a>`;
}

/** Tags that only set text, with no attributes, and comments. */
const PLAIN =
  /^(?:[^<]|<!--(?:(?!-->)[\s\S])*-->|<\/?(?:details|summary|br|hr|b|i|em|strong|u|s|del|ins|sub|sup|kbd|mark|p|ul|ol|li|blockquote)\s*\/?>|<details open>)*$/i;
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

function isHarmless(html: string): boolean {
  if (html.length > MAX_HTML_CHARS) return false;
  let isLocalOnly = true;
  const rest = html.replace(MEDIA, (_tag, attributes: string | undefined) => {
    isLocalOnly &&= areLocal(attributes ?? '');
    return '';
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
