import { type Colour, createCanvas, drawLine, drawText, fillRectangle, paintPixel } from './draw.ts';
import type { RgbaImage } from './encode/image.ts';

/** An evening over three ranges of hills, for the JPEG: soft gradients are what that format is good at. */
export function drawLandscape(): RgbaImage {
  const canvas = createCanvas(480, 320);
  for (let y = 0; y < canvas.height; y++) {
    for (let x = 0; x < canvas.width; x++) paintPixel(canvas, { x, y }, colourLandscape(x, y));
  }
  return canvas;
}

const SUN = { x: 330, y: 168, radius: 26 };
const HILLS: readonly { level: number; swing: number; wave: number; near: Colour; far: Colour }[] = [
  { level: 268, swing: 16, wave: 0.021, near: 0x0f1c24, far: 0x1c3038 },
  { level: 226, swing: 20, wave: 0.016, near: 0x223a46, far: 0x3d5a66 },
  { level: 190, swing: 24, wave: 0.011, near: 0x4d6a7a, far: 0x8f8ea0 },
];

function colourLandscape(x: number, y: number): Colour {
  for (const { level, swing, wave, near, far } of HILLS) {
    const ridge = level + swing * (Math.sin(x * wave + level) + 0.4 * Math.sin(x * wave * 3.1 + swing));
    if (y > ridge) return mixColours(far, near, Math.min((y - ridge) / 70, 1));
  }
  const distance = Math.hypot(x - SUN.x, y - SUN.y);
  const sky = mixColours(0x27447f, 0xf6b26b, Math.min(y / 200, 1) ** 1.4);
  const glow = mixColours(sky, 0xffe9b0, Math.exp(-Math.max(distance - SUN.radius, 0) / 45));
  return distance < SUN.radius ? 0xfff6d8 : glow;
}

function mixColours(from: Colour, to: Colour, share: number): Colour {
  const channels = [16, 8, 0].map((shift) => {
    const [a, b] = [(from >> shift) & 0xff, (to >> shift) & 0xff];
    return Math.round(a + (b - a) * share) << shift;
  });
  return channels.reduce((colour, channel) => colour | channel, 0);
}

/** A ball that bounces once, for the GIF. The last frame leads back to the first. */
export function drawBounce(): [RgbaImage, ...RgbaImage[]] {
  const [first = 0, ...rest] = Array.from({ length: 16 }, (_, i) => i / 16);
  return [drawBounceFrame(first), ...rest.map(drawBounceFrame)];
}

const FLOOR = 132;

function drawBounceFrame(time: number): RgbaImage {
  const canvas = createCanvas(200, 160, 0xfdf6e3);
  fillRectangle(canvas, { x: 0, y: FLOOR, width: 200, height: 28 }, 0xd9c9a3);
  const lift = 1 - (2 * time - 1) ** 2;
  const ball = { x: 100, y: FLOOR - 18 - lift * 84 };
  const shadow = 20 - lift * 10;
  const [left, right] = [
    { x: 100 - shadow, y: FLOOR + 6 },
    { x: 100 + shadow, y: FLOOR + 6 },
  ];
  drawLine(canvas, left, right, { colour: 0xb09a6a, width: 5 });
  drawLine(canvas, ball, ball, { colour: 0xcb4b16, width: 36 });
  const shine = { x: ball.x - 6, y: ball.y - 7 };
  drawLine(canvas, shine, shine, { colour: 0xf2a37b, width: 9 });
  return canvas;
}

/** Three translucent discs on nothing, for the WebP: it shows that transparency arrives. */
export function drawBadge(): RgbaImage {
  const canvas = createCanvas(256, 256);
  const discs: readonly (readonly [x: number, y: number, colour: Colour])[] = [
    [128, 92, 0xe5484d],
    [90, 158, 0x30a46c],
    [166, 158, 0x3e63dd],
  ];
  for (const [x, y, colour] of discs)
    drawLine(canvas, { x, y }, { x, y }, { colour, width: 140, opacity: 0.72 });
  drawText(canvas, 'WebP', { x: 128, y: 124 }, { colour: 0xffffff, scale: 4, align: 'centre' });
  return canvas;
}
