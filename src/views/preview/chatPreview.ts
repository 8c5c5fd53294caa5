import type { Env, MarkdownIt, MarkdownItOptions, Token } from 'markdown-it';
import type { Chat, Turn } from '../../chat/format/chat.ts';
import { parseChat } from '../../chat/format/parse.ts';
import { addCodeRules } from './code.ts';
import { createFormats, type Formats, toHtml } from './html.ts';
import { documentOf, makeChatsInert } from './inert.ts';
import { addLinkRules } from './links.ts';
import { addMathRules } from './math.ts';
import type { PreviewOptions, PreviewWords } from './options.ts';
import { type ParsedTurn, shiftLines, TurnParser, toolOfMarker } from './turns.ts';

/**
 * Shows the turns of a chat as cards in the Markdown preview, and makes them inert. VS Code names the document only
 * when it renders, so turns are parsed then, each separately, so that none can hide or change another. Other Markdown
 * files are not affected.
 */
export function previewChats(md: MarkdownIt, options: PreviewOptions): MarkdownIt {
  const sources = new WeakMap<readonly Token[], string>();
  const parser = new TurnParser(md, options.words);
  const formats = createFormats(options.words.locale);
  let isRenderingChat = false;
  const isChat = (env: unknown) => isRenderingChat || isNamedAsChat(env);

  makeChatsInert(md, isChat, options.words);
  addCodeRules(md, options.words);
  addLinkRules(md, options, formats);
  addMathRules(md);
  addTaskRule(md);
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

/** The box of a task cannot be changed here: the file can. */
function addTaskRule({ renderer }: MarkdownIt): void {
  renderer.rules['filechat_task'] = (tokens, index) => {
    const checked = tokens[index]?.meta?.['isDone'] === true ? ' checked' : '';
    return `<input type="checkbox" class="filechat-task" disabled${checked}> `;
  };
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

function renderCard(
  { turn, line, time }: ParsedTurn,
  body: string,
  words: PreviewWords,
  formats: Formats,
): string {
  const { role } = turn;
  const name = words[role === 'user' ? 'you' : role];
  const more = role === 'tool' ? toolOfMarker(turn.markerText) : turn.markerText;
  const detail = more === '' ? '' : `<span class="filechat-detail">${toHtml(more)}</span>`;
  const clock = time === undefined ? '' : formats.time(time);
  const label = toHtml(more === '' ? name : `${name}: ${more}`);
  const icon = '<span class="filechat-icon" aria-hidden="true"></span>';
  const head = `<div class="filechat-head code-line" data-line="${line}" dir="auto">${icon}<span class="filechat-name">${toHtml(name)}</span>${detail}${clock}</div>`;
  return `<article class="filechat-turn filechat-${role}" aria-label="${label}">
${head}
<div class="filechat-body">
${body}${renderCut(turn.cut, words)}</div>
</article>
`;
}

function renderCut(cut: Turn['cut'], words: PreviewWords): string {
  if (!cut) return '';
  const text = cut.kind === 'writing' ? words.writing : words.interrupted(cut.reason);
  return `<p class="filechat-note filechat-${cut.kind}">${toHtml(text)}</p>\n`;
}

const SETTING = /^(title|model|servers):(.*)$/gm;

/** The settings of interest to readers, on one line. */
function renderFront(front: string, words: PreviewWords): string {
  const found = new Map(
    [...front.matchAll(SETTING)].map(([, key = '', value = '']) => [key, readScalar(value.trim())]),
  );
  const shown = (['title', 'model', 'servers'] as const).flatMap((key) => {
    const value = found.get(key);
    if (!value) return [];
    const name = key === 'title' ? '' : `<span>${toHtml(words[key])}</span> `;
    return [`<span class="filechat-${key}">${name}${toHtml(value)}</span>`];
  });
  return shown.length === 0 ? '' : `<div class="filechat-front">${shown.join(' ')}</div>\n`;
}

/** Parses single-line YAML values; others are not shown. */
function readScalar(value: string): string {
  const quoted = /^"((?:[^"\\]|\\.)*)"|^'((?:[^']|'')*)'/.exec(value);
  if (quoted) return quoted[1]?.replace(/\\(.)/g, '$1') ?? quoted[2]?.replaceAll("''", "'") ?? '';
  const plain = value.replace(/(?:^|[ \t])#.*$/, '').trim();
  return plain.replace(/^\[(.*)\]$/, '$1').replace(/["']/g, '');
}
