import type { GalleryItem } from '../items.ts';
import { describeDuration, peaksOf } from '../peeks.ts';
import { fillIn, type Words } from '../words.ts';
import { element, setIcon } from './dom.ts';

/** An hour of compressed audio in a small file takes a gigabyte when decoded. */
const MAX_DECODED_BYTES = 4_000_000;
const MAX_DECODED_SECONDS = 10 * 60;
/** Enough for a waveform, with a sixth of the memory. */
const SAMPLE_RATE = 8_000;
const BARS = 48;

/** Plays one asset at a time and draws the waveforms of visible tiles. */
export class AudioPlayer {
  readonly #words: Words;
  readonly #audio = new Audio();
  readonly #shapes = new Map<string, { readonly peaks: readonly number[]; readonly seconds: number }>();
  /** Paint the tiles of assets. */
  readonly #paints = new Map<string, () => void>();
  #playing: string | undefined;
  #queue: Promise<void> = Promise.resolve();

  constructor(words: Words) {
    this.#words = words;
    this.#audio.preload = 'none';
    for (const event of ['timeupdate', 'play', 'pause', 'ended', 'seeked']) {
      this.#audio.addEventListener(event, () => this.#paintCurrent());
    }
  }

  preview(item: GalleryItem): HTMLElement {
    const canvas = element('canvas', { class: 'wave', attributes: { 'aria-hidden': 'true' } });
    const button = element('button', { class: 'play', attributes: { type: 'button', tabindex: '-1' } });
    const clock = element('span', { class: 'clock', attributes: { 'aria-hidden': 'true' } });
    const paint = () => {
      if (canvas.isConnected) this.#paint(item, canvas, button, clock);
    };
    button.addEventListener('click', (event) => {
      event.stopPropagation();
      this.toggle(item);
    });
    canvas.addEventListener('click', (event) => this.#seek(item.id, event));
    this.#paints.set(item.id, paint);
    requestAnimationFrame(paint);
    if (!this.#shapes.has(item.id)) this.#queue = this.#queue.then(() => this.#draw(item, canvas));
    return element('div', { class: 'sound' }, [
      canvas,
      element('div', { class: 'transport' }, [button, clock]),
    ]);
  }

  toggle(item: GalleryItem): void {
    if (item.source === undefined) return;
    if (this.#playing === item.id && !this.#audio.paused) {
      this.#audio.pause();
      return;
    }
    const last = this.#playing;
    if (last !== item.id) {
      this.#audio.src = item.source;
      this.#playing = item.id;
      if (last !== undefined) this.#paints.get(last)?.();
    }
    this.#audio.play().catch(() => this.#paintCurrent());
  }

  /** Called when the theme changes. */
  repaint(): void {
    for (const paint of this.#paints.values()) paint();
  }

  #seek(id: string, event: MouseEvent): void {
    const { duration } = this.#audio;
    if (this.#playing !== id || !Number.isFinite(duration)) return;
    event.stopPropagation();
    const canvas = event.currentTarget as HTMLCanvasElement;
    this.#audio.currentTime = (duration * event.offsetX) / Math.max(1, canvas.clientWidth);
  }

  async #draw(item: GalleryItem, canvas: HTMLCanvasElement): Promise<void> {
    // Scrolled away in the meantime.
    if (!canvas.isConnected || item.source === undefined || this.#shapes.has(item.id)) return;
    try {
      const seconds = await readDuration(item.source);
      const small = item.bytes <= MAX_DECODED_BYTES && seconds <= MAX_DECODED_SECONDS;
      const peaks = small ? await readPeaks(item.source) : [];
      this.#shapes.set(item.id, { peaks, seconds });
    } catch {
      // The browser cannot play it; the waveform is a flat line.
      this.#shapes.set(item.id, { peaks: [], seconds: 0 });
    }
    this.#paints.get(item.id)?.();
  }

  #paintCurrent(): void {
    this.#paints.get(this.#playing ?? '')?.();
  }

  #paint(item: GalleryItem, canvas: HTMLCanvasElement, button: HTMLElement, clock: HTMLElement): void {
    const shape = this.#shapes.get(item.id);
    const current = this.#playing === item.id;
    const playing = current && !this.#audio.paused;
    const seconds =
      shape?.seconds || (current && Number.isFinite(this.#audio.duration) ? this.#audio.duration : 0);
    const at = current ? this.#audio.currentTime : 0;
    setIcon(button, playing ? 'pause' : 'play');
    button.setAttribute('aria-label', fillIn(playing ? this.#words.pause : this.#words.play, item.title));
    const length = seconds > 0 ? describeDuration(seconds) : '';
    clock.textContent = current && at > 0 ? `${describeDuration(at)} / ${length}` : length;
    drawWave(canvas, shape?.peaks ?? [], seconds > 0 ? at / seconds : 0);
  }
}

async function readDuration(source: string): Promise<number> {
  const audio = new Audio();
  audio.preload = 'metadata';
  const { promise, resolve, reject } = Promise.withResolvers<number>();
  audio.addEventListener('loadedmetadata', () => resolve(audio.duration));
  audio.addEventListener('error', () => reject(new Error('not playable')));
  audio.src = source;
  try {
    const seconds = await promise;
    return Number.isFinite(seconds) ? seconds : 0;
  } finally {
    audio.removeAttribute('src');
  }
}

async function readPeaks(source: string): Promise<readonly number[]> {
  const bytes = await (await fetch(source)).arrayBuffer();
  const decoded = await new OfflineAudioContext(1, 1, SAMPLE_RATE).decodeAudioData(bytes);
  return peaksOf(decoded.getChannelData(0), BARS);
}

function drawWave(canvas: HTMLCanvasElement, peaks: readonly number[], done: number): void {
  const width = canvas.clientWidth;
  const height = canvas.clientHeight;
  const context = canvas.getContext('2d');
  if (!context || width === 0) return;
  const scale = window.devicePixelRatio || 1;
  canvas.width = width * scale;
  canvas.height = height * scale;
  context.scale(scale, scale);
  const style = getComputedStyle(canvas);
  const step = width / BARS;
  for (let bar = 0; bar < BARS; bar += 1) {
    const tall = Math.max(2, (peaks[bar] ?? 0) * height);
    context.fillStyle =
      bar / BARS < done ? style.getPropertyValue('--played') : style.getPropertyValue('--wave');
    context.beginPath();
    context.roundRect(bar * step, (height - tall) / 2, Math.max(1.5, step * 0.6), tall, 1.5);
    context.fill();
  }
}
