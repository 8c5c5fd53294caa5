import type { MarkdownIt, RendererRule } from 'markdown-it';
import { toHtml } from './html.ts';
import type { PreviewedDocument, PreviewWords } from './options.ts';

/**
 * Loads nothing remote, and renders only HTML that cannot load, run or cover anything. Other Markdown files are not
 * affected.
 */
export function makeChatsInert(
  md: MarkdownIt,
  isChat: (env: unknown) => boolean,
  words: Pick<PreviewWords, 'notLoaded'>,
): void {
  replaceRule(md, 'image', (original) => (tokens, index, options, env, self) => {
    const token = tokens[index];
    // VS Code rewrites `src` and keeps the original address in `data-src`.
    const address = String(token?.attrGet('data-src') ?? token?.attrGet('src') ?? '');
    if (!isChat(env) || isLocal(address)) return original(tokens, index, options, env, self);
    const [text, target] = [token?.content || address, address].map(toHtml);
    return `<a href="${target}" title="${target}">${text} (${toHtml(words.notLoaded)})</a>`;
  });
  for (const name of ['html_block', 'html_inline']) {
    replaceRule(md, name, (original) => (tokens, index, options, env, self) => {
      const token = tokens[index];
      if (!token || !isChat(env)) return original(tokens, index, options, env, self);
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

/** VS Code passes the document in the environment. */
export function documentOf(env: unknown): PreviewedDocument | undefined {
  return (env as { readonly currentDocument?: PreviewedDocument } | undefined)?.currentDocument;
}

/** Without a scheme or a host; data URLs of images are allowed. */
export function isLocal(address: string): boolean {
  // Browsers ignore some control characters, which could hide a scheme.
  if (/[\u0000-\u001f\u007f-\u009f]/.test(address)) return false;
  return (
    /^data:image\/(?:png|jpeg|gif|webp);/i.test(address) ||
    !/^\s*(?:[\\/]{2}|[a-z][a-z0-9+.-]*:)/i.test(address)
  );
}

/** As browsers parse comments: `<!-->` is complete, `--!>` ends one, and an unclosed one extends to the end. */
const COMMENT = /<!--(?:-?>|[\s\S]*?(?:--!?>|$))/g;

/** Formatting tags without attributes, and the markers that VS Code adds in diffs. */
const PLAIN =
  /^(?:[^<]|<\/?(?:details|summary|br|hr|b|i|em|strong|u|s|del|ins|sub|sup|kbd|mark|p|ul|ol|li|blockquote)\s*\/?>|<details open>|<span data-diff-(?:start|end)="\d+">|<\/span>)*$/i;
/** Media elements, which are allowed for local files. */
const MEDIA = /<(?:img|audio|video|source)((?:\s+[a-z-]+(?:="[^"<>]*")?)*)\s*\/?>|<\/(?:audio|video)>/gi;
const ATTRIBUTE = /([a-z-]+)(?:="([^"<>]*)")?/gi;
const MEDIA_ATTRIBUTES = 'src alt title width height controls loop muted type'.split(' ');

/** Longer HTML is rejected, because checking it could be slow. */
const MAX_HTML_CHARS = 4000;

export function isHarmless(written: string): boolean {
  const html = written.replace(COMMENT, '');
  if (html.length > MAX_HTML_CHARS) return false;
  let isLocalOnly = true;
  const rest = html.replace(MEDIA, (_tag, attributes: string | undefined) => {
    isLocalOnly &&= areLocal(attributes ?? '');
    // A placeholder, so that the surrounding text cannot form a tag.
    return 'x';
  });
  return isLocalOnly && PLAIN.test(rest);
}

function areLocal(attributes: string): boolean {
  return [...attributes.matchAll(ATTRIBUTE)].every(([, name = '', value = '']) => {
    if (!MEDIA_ATTRIBUTES.includes(name.toLowerCase())) return false;
    // A character reference could encode anything.
    return name.toLowerCase() !== 'src' || (isLocal(value) && !value.includes('&'));
  });
}
