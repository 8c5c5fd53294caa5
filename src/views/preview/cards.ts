import type { Turn } from '../../chat/format/chat.ts';
import type { Formats } from './formats.ts';
import { toHtml } from './html.ts';
import type { PreviewWords } from './options.ts';
import { type ParsedTurn, toolOfMarker } from './turns.ts';

export function renderCard(
  { turn, line, time }: ParsedTurn,
  body: string,
  words: PreviewWords,
  formats: Formats,
): string {
  const { role } = turn;
  const name = words[role === 'user' ? 'you' : role];
  const more = role === 'tool' ? toolOfMarker(turn.words) : turn.words;
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

const SETTING = /^(title|model|servers):[ \t]*(.*?)[ \t]*$/gm;

/** The settings of interest to readers, on one line. */
export function renderFront(front: string, words: PreviewWords): string {
  const found = new Map(
    [...front.matchAll(SETTING)].map(([, key = '', value = '']) => [key, readScalar(value)]),
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
