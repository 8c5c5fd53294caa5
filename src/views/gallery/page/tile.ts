import { RecentValues } from '../../../base/collections.ts';
import { describeSize } from '../../../base/size.ts';
import { extensionOf, type GalleryItem, toolsOf } from '../items.ts';
import { countPdfPages } from '../peeks.ts';
import { fillIn, type Words } from '../words.ts';
import type { AudioPlayer } from './audioPlayer.ts';
import { element, icon, setIcon } from './dom.ts';

export interface TileDeps {
  readonly words: Words;
  readonly audio: AudioPlayer;
  readonly peeks: Peeks;
}

/** The end of a file name is always shown, because it has the extension. */
const NAME_END_CHARS = 9;

const HIDDEN = { 'aria-hidden': 'true' } as const;

export function makeTile(item: GalleryItem, deps: TileDeps): HTMLElement {
  const { words } = deps;
  const check = element('span', { class: 'check', attributes: HIDDEN }, [icon('check')]);
  const preview = element('div', { class: `preview ${item.kind}` }, previewOf(item, deps));
  const origin = toolsOf(item)[0] ?? item.uses[0]?.chat;
  const isFileName = item.title.endsWith(`.${extensionOf(item.name)}`);
  const cut = isFileName ? Math.max(0, item.title.length - NAME_END_CHARS) : item.title.length;
  const name = element('span', { class: 'name' }, [
    element('span', { class: 'name-start', text: item.title.slice(0, cut) }),
    element('span', { class: 'name-end', text: item.title.slice(cut) }),
  ]);
  const facts = element('span', { class: 'facts' }, [
    element('span', {
      class: origin === undefined ? 'origin unlinked' : 'origin',
      text: origin ?? words.notLinked,
    }),
    element('span', { class: 'bytes', text: describeSize(item.bytes) }),
  ]);
  // Screen readers get one sentence instead of the visible pieces: `quarterly.pdf, PDF, 12.3 KB, from charts.bar`.
  const from = origin === undefined ? words.notLinked : fillIn(words.labelFrom, origin);
  const text = fillIn(words.label, item.title, words[item.kind], describeSize(item.bytes), from);
  const label = element('span', { class: 'unseen', text });
  const caption = element('div', { class: 'caption', attributes: HIDDEN }, [name, facts]);
  const attributes = { role: 'gridcell', tabindex: '-1' };
  const tile = element('div', { class: 'tile', attributes }, [label, preview, check, caption]);
  tile.dataset['id'] = item.id;
  tile.title = tooltipOf(item, words);
  return tile;
}

function tooltipOf(item: GalleryItem, words: Words): string {
  const time = new Date(item.time).toLocaleString(document.documentElement.lang || undefined);
  const uses = item.uses.slice(0, 5).map(({ chat, tool, turn }) => {
    const place = fillIn(words.turn, turn, chat);
    return tool === undefined ? place : `${tool}, ${place}`;
  });
  const lines = [
    ...(item.title === item.name ? [] : [item.title]),
    item.name,
    `${describeSize(item.bytes)}, ${time}`,
    ...(uses.length > 0 ? uses : [words.notLinked]),
  ];
  return (item.folder === '' ? lines : [...lines, item.folder]).join('\n');
}

function previewOf(item: GalleryItem, deps: TileDeps): readonly Node[] {
  const badge = element('span', {
    class: 'badge',
    attributes: HIDDEN,
    text: extensionOf(item.name).toUpperCase().slice(0, 8) || '?',
  });
  if (item.source === undefined) return [icon(item.kind), badge];
  if (item.kind === 'image') return [imageNode(item, item.source, badge)];
  if (item.kind === 'audio') return [deps.audio.preview(item), badge];
  if (item.kind === 'video') return [...videoNodes(item, item.source, deps.words), badge];
  const peek = element('span', { class: `peek ${item.kind}`, attributes: HIDDEN });
  deps.peeks.show(item, item.source, peek);
  return item.kind === 'pdf' ? [icon('pdf'), peek, badge] : [peek, badge];
}

/** Falls back to an icon for an image that cannot be decoded. */
function imageNode(item: GalleryItem, source: string, badge: HTMLElement): HTMLImageElement {
  const image = element('img', {
    attributes: { alt: '', loading: 'lazy', decoding: 'async', draggable: 'false' },
  });
  image.addEventListener('error', () => image.replaceWith(icon(item.kind), badge));
  image.src = source;
  return image;
}

function videoNodes(item: GalleryItem, source: string, words: Words): readonly Node[] {
  const video = element('video', {
    attributes: { preload: 'metadata', tabindex: '-1', 'aria-hidden': 'true' },
  });
  // The first frame is often black.
  video.src = `${source}#t=0.1`;
  const button = element('button', { class: 'play over', attributes: { type: 'button', tabindex: '-1' } });
  const paint = () => {
    setIcon(button, video.paused ? 'play' : 'pause');
    button.setAttribute('aria-label', fillIn(video.paused ? words.play : words.pause, item.title));
  };
  for (const event of ['play', 'pause', 'ended']) video.addEventListener(event, paint);
  video.addEventListener('error', () => {
    button.remove();
    video.replaceWith(icon('video'));
  });
  button.addEventListener('click', (event) => {
    event.stopPropagation();
    if (video.paused) video.play().catch(paint);
    else video.pause();
  });
  paint();
  return [video, button];
}

const PEEK_CHARS = 700;
const MAX_KEPT = 400;

/** Reads the first lines of texts and the page counts of PDFs for visible tiles. */
export class Peeks {
  readonly #words: Words;
  readonly #kept = new RecentValues<Promise<string>>(MAX_KEPT);

  constructor(words: Words) {
    this.#words = words;
  }

  /** If it cannot be read, the tile stays without a preview. */
  show({ id, kind }: GalleryItem, source: string, into: HTMLElement): void {
    const read = () => (kind === 'pdf' ? this.#describePdf(source) : readStart(source));
    this.#kept.get(id, read).then(
      (text) => {
        into.textContent = text;
      },
      () => this.#kept.delete(id),
    );
  }

  async #describePdf(source: string): Promise<string> {
    const bytes = await (await fetch(source)).arrayBuffer();
    const pages = countPdfPages(new TextDecoder('latin1').decode(bytes));
    if (pages === undefined) return '';
    return pages === 1 ? this.#words.page : fillIn(this.#words.pages, pages);
  }
}

async function readStart(source: string): Promise<string> {
  const reader = (await fetch(source)).body?.getReader();
  const decoder = new TextDecoder();
  let text = '';
  while (reader && text.length < PEEK_CHARS) {
    const { done, value } = await reader.read();
    if (done) break;
    text += decoder.decode(value, { stream: true });
  }
  await reader?.cancel();
  return text.slice(0, PEEK_CHARS);
}
