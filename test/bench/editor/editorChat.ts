/** A very long chat with a folder of real images. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { createCanvas, drawText, fillRectangle } from '../../../samples/server/draw.ts';
import { encodePng } from '../../../samples/server/encode/png.ts';
import { makeChat } from '../chat/chatTexts.ts';

export const TURNS = 1_000;
export const ASSETS = 300;
const COLOURS = [0x2f6fde, 0xf0883e, 0x2da44e, 0x8250df, 0xcf222e];

export function writeLongChat(folder: string, name: string): void {
  const assets = join(folder, 'cmdassets');
  mkdirSync(assets, { recursive: true });
  for (let at = 1; at <= ASSETS; at += 1) writeFileSync(join(assets, imageName(at)), drawImage(at));
  writeFileSync(join(folder, name), addImages(makeChat(TURNS)));
}

/** Each result has an image, and some have two. */
function addImages(chat: string): string {
  const results = chat.split(/^(?=# %% tool )/m);
  const perResult = ASSETS / (results.length - 1);
  return results
    .map((part, at) => {
      if (at === 0) return part;
      const [first, last] = [Math.floor((at - 1) * perResult) + 1, Math.floor(at * perResult)];
      const links = Array.from({ length: last - first + 1 }, (_, next) => linkImage(first + next));
      const lineEnd = part.indexOf('\n') + 1;
      return `${part.slice(0, lineEnd)}${links.join('')}${part.slice(lineEnd)}`;
    })
    .join('');
}

function linkImage(number: number): string {
  return `![Tool generated image ${number}](cmdassets/${imageName(number)})\n\n`;
}

function imageName(number: number): string {
  return `tool-image-20260101-120000-bench-${number}.png`;
}

function drawImage(number: number): Uint8Array {
  const canvas = createCanvas(160, 100, 0xffffff);
  const colour = COLOURS[number % COLOURS.length] ?? 0;
  fillRectangle(canvas, { x: 8, y: 92 - (number % 60), width: 144, height: number % 60 }, colour);
  drawText(canvas, String(number), { x: 12, y: 8 }, { colour: 0x24292f, scale: 3 });
  return encodePng(canvas);
}
