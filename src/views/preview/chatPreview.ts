import type { Env, MarkdownIt, MarkdownItOptions, Token } from 'markdown-it';
import type { Chat } from '../../chat/format/chat.ts';
import { parseChat } from '../../chat/format/parse.ts';
import { renderCard, renderFront } from './cards.ts';
import { addCodeRules } from './code.ts';
import { Formats } from './formats.ts';
import { toHtml } from './html.ts';
import { documentOf, makeChatsInert } from './inert.ts';
import { addLinkRules } from './links.ts';
import type { PreviewOptions, PreviewWords } from './options.ts';
import { type ParsedTurn, shiftLines, TurnParser } from './turns.ts';

/**
 * Shows the turns of a chat as cards in the Markdown preview, and makes them inert. VS Code names the document only
 * when it renders, so turns are parsed then, each separately, so that none can hide or change another. Other Markdown
 * files are not affected.
 */
export function previewChats(md: MarkdownIt, options: PreviewOptions): MarkdownIt {
  const sources = new WeakMap<readonly Token[], string>();
  const parser = new TurnParser(md);
  const formats = new Formats(options.words.locale);
  let isRenderingChat = false;
  const isChat = (env: unknown) => isRenderingChat || isNamedAsChat(env);

  makeChatsInert(md, isChat, options.words);
  addCodeRules(md, options.words);
  addLinkRules(md, options, formats);
  md.core.ruler.push('filechat_source', (state) => {
    if (!isRenderingChat) sources.set(state.tokens, state.src);
  });

  const { renderer } = md;
  const renderAny = renderer.render;
  const renderTokens: typeof renderAny = Object.getPrototypeOf(renderer).render ?? renderAny;
  renderer.render = (tokens: Token[], settings: Required<MarkdownItOptions>, env?: Env) => {
    const source = sources.get(tokens);
    if (isRenderingChat || source === undefined || !(isNamedAsChat(env) || isNamelessChat(env, source))) {
      return renderAny.call(renderer, tokens, settings, env);
    }
    isRenderingChat = true;
    try {
      const chat = parseChat(source);
      const cards = parser
        .read(source, chat, settings, env)
        .map((turn) => renderCard(turn, renderTurn(turn), options.words, formats));
      // Other extensions prepend their own markup to a document; it is needed once.
      const others = renderAny.call(renderer, [], settings, env);
      return `${others}${renderSettings(chat)}${cards.join('')}`;
    } finally {
      isRenderingChat = false;
    }

    function renderTurn(turn: ParsedTurn): string {
      return turn.parts.map((part) => renderTokens.call(renderer, shiftLines(part), settings, env)).join('');
    }
  };
  return md;

  function renderSettings(chat: Chat): string {
    const front = (options.showsFrontMatter?.() ?? true) ? chat.frontMatter : undefined;
    return `${wordsForScript(options.words)}${renderFront(front ?? '', options.words)}`;
  }
}

function isNamedAsChat(env: unknown): boolean {
  return documentOf(env)?.path.endsWith('.chat.md') === true;
}

/** The documents of a diff have no name. */
function isNamelessChat(env: unknown, source: string): boolean {
  return documentOf(env) === undefined && /^# %%[ \t]+(?:system|user|assistant|tool)/im.test(source);
}

/** Texts for `media/preview/preview.js`. */
function wordsForScript({ copied, close }: PreviewWords): string {
  return `<div id="filechat-preview" hidden data-copied="${toHtml(copied)}" data-close="${toHtml(close)}"></div>\n`;
}
