import type { MarkdownIt, MarkdownItOptions, Token } from 'markdown-it';
import { toHtml } from './html.ts';
import type { PreviewWords } from './options.ts';
import { type CallMeta, countLines } from './turns.ts';

type Options = Required<MarkdownItOptions>;

/** Renders code with a copy button, calls on one line, and long results folded. */
export function addCodeRules(md: MarkdownIt, words: PreviewWords): void {
  const { rules } = md.renderer;
  const highlights = new HighlightCache();
  const copyButton = `<button type="button" class="filechat-copy" aria-label="${toHtml(words.copy)}" title="${toHtml(words.copy)}"></button>`;
  const block = (token: Token, language: string, text: string, options: Options) => {
    const classes = [token.attrGet('class'), language && `${options.langPrefix}${toHtml(language)}`];
    const line = token.attrGet('data-line');
    const attributes = [
      classes.some(Boolean) ? ` class="${classes.filter(Boolean).join(' ')}"` : '',
      line === null ? '' : ` data-line="${line}"`,
    ];
    const code = `<pre><code${attributes.join('')}>${highlight(text, language, options, highlights)}</code></pre>`;
    return `<div class="filechat-code">${code}${copyButton}</div>\n`;
  };

  const diagram = (token: Token, language: string, { highlight }: Options) => {
    const drawn =
      language === 'mermaid' && highlight ? highlights.of(highlight, token.content, language) : '';
    if (!isInertDiagram(drawn, token.content)) return undefined;
    return `<div${md.renderer.renderAttrs(token)}>${drawn}</div>\n`;
  };

  const addRule = (name: string, render: (token: Token, options: Options) => string) => {
    rules[name] = (tokens, index, options) => (tokens[index] ? render(tokens[index], options) : '');
  };
  addRule('filechat_code', (token, options) => {
    const language = languageOf(token, md);
    return diagram(token, language, options) ?? block(token, language, token.content, options);
  });
  addRule('filechat_long', (token, options) => {
    const language = languageOf(token, md);
    const drawn = diagram(token, language, options);
    if (drawn !== undefined) return drawn;
    const [first = ''] = token.content.trimStart().split('\n', 1);
    const summary = `<code>${toHtml(first.slice(0, 200))}</code> <span class="filechat-about">${toHtml(words.lines(countLines(token.content)))}</span>`;
    const code = block(token, language, token.content, options);
    return `<details class="filechat-long"><summary>${summary}</summary>${code}</details>\n`;
  });
  addRule('filechat_call', (token, options) => {
    const { name, isPartial } = token.meta as unknown as CallMeta;
    const { line, pretty } = readCallText(token.content);
    const note = isPartial ? ` <span class="filechat-about">${toHtml(words.unfinishedCall)}</span>` : '';
    const call = `<code><b>${toHtml(name)}</b>(${toHtml(line)})</code>${note}`;
    const icon = '<span class="filechat-icon" aria-hidden="true"></span>';
    return `<details class="filechat-call"><summary>${icon}${call}</summary>${block(token, 'json', pretty, options)}</details>\n`;
  });
  addRule('filechat_reasoning', (token) => {
    const attributes = md.renderer.renderAttrs(token);
    return `<details class="filechat-reasoning"><summary${attributes}>${toHtml(words.reasoning)}</summary>\n`;
  });
  addRule('filechat_closing', ({ content }) => content);
}

function languageOf(token: Token, md: MarkdownIt): string {
  const [language = ''] = md.utils.unescapeAll(token.info).trim().split(/\s+/, 1);
  return language;
}

/** Only `<span>` highlighting is accepted: other markup from an extension could load resources. */
const OTHER_TAG = /<(?!span class="[\w -]*">|\/span>)/;

function highlight(text: string, language: string, options: Options, highlights: HighlightCache): string {
  const highlighted = options.highlight ? highlights.of(options.highlight, text, language) : '';
  return highlighted !== '' && !OTHER_TAG.test(highlighted) ? highlighted : toHtml(text);
}

/** As VS Code's own extension writes a diagram, which its script draws in the page. */
const DRAWN =
  /^<pre class="mermaid"(?: style="all: unset;")?(?: data-vscode-mermaid-source="[^"<>]*")?>[^<]*<\/pre>$/;

/** Whether an extension's markup for code is a diagram that loads nothing when it is drawn. */
function isInertDiagram(html: string, source: string): boolean {
  return DRAWN.test(html) && loadsNothing(source);
}

/** Other kinds have icons, images or comments in Markdown. */
const KIND =
  /^\s*(?:%%[^\n]*\n\s*)*(?:graph|flowchart|(?:sequence|class|state|er|requirement)Diagram|gantt|pie|mindmap|timeline|gitGraph|journey|quadrantChart|xychart|sankey)\b/;
const MAX_DIAGRAM_CHARS = 20_000;

/** Options, shapes, and properties of participants can name images and style sheets. An escape can hide a word. */
const LOADING =
  /@\s*\{|%%\s*\{|^[ \t]*---|\b(?:properties|details)\b[^\n:]*:|\\|\/\/|url\s*\(|image-set|@import/im;
/** Labels are HTML. */
const TAG = /<(?!br\s*\/?>)[a-z!/?]|&#?\w+;/i;
/** `<<interface>>` in a class diagram. */
const STEREOTYPE = /<<(?!style|script|svg|math)\w+>>/gi;

/** Mermaid loads remote addresses from its source, so only source that can contain none is drawn. */
function loadsNothing(source: string): boolean {
  if (source.length > MAX_DIAGRAM_CHARS || !KIND.test(source) || LOADING.test(source)) return false;
  return !TAG.test(source.replace(STEREOTYPE, '""'));
}

const MAX_LINE_CHARS = 100;

function readCallText(text: string): { readonly line: string; readonly pretty: string } {
  if (text.trim() === '') return { line: '', pretty: '{}' };
  try {
    const value: unknown = JSON.parse(text);
    const line = renderValue(value, MAX_LINE_CHARS);
    return { line: line === '{}' ? '' : line, pretty: JSON.stringify(value, undefined, 2) };
  } catch {
    return { line: shorten(text.trim().replace(/\s+/g, ' '), MAX_LINE_CHARS), pretty: text };
  }
}

/** A value as a JavaScript literal, cut to the given length. */
function renderValue(value: unknown, room: number): string {
  if (typeof value === 'string') return JSON.stringify(shorten(value, Math.max(12, Math.min(room, 40))));
  if (typeof value !== 'object' || value === null) return String(value);
  const isList = Array.isArray(value);
  const shown: string[] = [];
  let left = room - 2;
  for (const [key, each] of Object.entries(value)) {
    const name = /^[A-Za-z_$][\w$]*$/.test(key) ? key : JSON.stringify(shorten(key, 40));
    const words = isList ? renderValue(each, left) : `${name}: ${renderValue(each, left - name.length)}`;
    left -= words.length + 2;
    if (left < 0 && shown.length > 0) {
      shown.push('…');
      break;
    }
    shown.push(words);
    if (left < 0) break;
  }
  return isList ? `[${shown.join(', ')}]` : `{${shown.join(', ')}}`;
}

function shorten(text: string, room: number): string {
  return text.length <= room ? text : `${text.slice(0, room - 1).toWellFormed()}…`;
}

type Highlight = (text: string, language: string, attributes: string) => string;

/** Far more than the code of a long chat. */
const MAX_CHARS = 4_000_000;

/**
 * Each change renders the whole preview, and most of that work would be highlighting unchanged blocks. The cache is
 * cleared when it is full.
 */
export class HighlightCache {
  readonly #maxChars: number;
  #highlight: Highlight | undefined;
  readonly #kept = new Map<string, string>();
  #chars = 0;

  constructor(maxChars = MAX_CHARS) {
    this.#maxChars = maxChars;
  }

  of(highlight: Highlight, text: string, language: string): string {
    if (highlight !== this.#highlight || this.#chars > this.#maxChars) {
      this.#kept.clear();
      this.#chars = 0;
    }
    this.#highlight = highlight;
    const key = `${language}\n${text}`;
    const known = this.#kept.get(key);
    if (known !== undefined) return known;
    const highlighted = highlight(text, language, '');
    this.#kept.set(key, highlighted);
    this.#chars += key.length + highlighted.length;
    return highlighted;
  }
}
