import type { RgbaImage } from './encode/png.ts';
import { findGlyph, GLYPH_HEIGHT, GLYPH_WIDTH } from './font.ts';

/** A colour as 0xRRGGBB. */
export type Colour = number;

export interface Point {
  readonly x: number;
  readonly y: number;
}

export interface Rectangle extends Point {
  readonly width: number;
  readonly height: number;
}

/** Without a background the canvas is transparent. */
export function createCanvas(width: number, height: number, background?: Colour): RgbaImage {
  const canvas = { width, height, pixels: new Uint8ClampedArray(width * height * 4) };
  if (background !== undefined) fillRectangle(canvas, { x: 0, y: 0, width, height }, background);
  return canvas;
}

/** Lays a colour over one pixel; `opacity` is between 0 and 1. Outside the canvas nothing happens. */
export function paintPixel(canvas: RgbaImage, { x, y }: Point, colour: Colour, opacity = 1): void {
  if (opacity <= 0 || x < 0 || y < 0 || x >= canvas.width || y >= canvas.height) return;
  const at = (y * canvas.width + x) * 4;
  if (opacity < 1) blendPixel(canvas, at, colour, opacity);
  else setPixel(canvas, at, colour);
}

function blendPixel({ pixels }: RgbaImage, at: number, colour: Colour, opacity: number): void {
  const below = (pixels[at + 3] ?? 0) / 255;
  const alpha = opacity + below * (1 - opacity);
  for (const [channel, shift] of [16, 8, 0].entries()) {
    const over = (colour >> shift) & 0xff;
    const under = pixels[at + channel] ?? 0;
    pixels[at + channel] = (over * opacity + under * below * (1 - opacity)) / alpha;
  }
  pixels[at + 3] = alpha * 255;
}

function setPixel({ pixels }: RgbaImage, at: number, colour: Colour): void {
  pixels[at] = colour >> 16;
  pixels[at + 1] = (colour >> 8) & 0xff;
  pixels[at + 2] = colour & 0xff;
  pixels[at + 3] = 0xff;
}

export function fillRectangle(canvas: RgbaImage, rectangle: Rectangle, colour: Colour): void {
  const { left, right, top, bottom } = roundEdges(rectangle);
  for (let y = top; y < bottom; y++) {
    for (let x = left; x < right; x++) paintPixel(canvas, { x, y }, colour);
  }
}

function roundEdges({ x, y, width, height }: Rectangle) {
  return {
    left: Math.round(x),
    right: Math.round(x + width),
    top: Math.round(y),
    bottom: Math.round(y + height),
  };
}

export interface Stroke {
  readonly colour: Colour;
  readonly width: number;
  readonly opacity?: number;
}

/** A straight line with round ends. A line without length is a disc. */
export function drawLine(canvas: RgbaImage, from: Point, to: Point, stroke: Stroke): void {
  const reach = stroke.width / 2 + 1;
  const left = Math.floor(Math.min(from.x, to.x) - reach);
  const right = Math.ceil(Math.max(from.x, to.x) + reach);
  const top = Math.floor(Math.min(from.y, to.y) - reach);
  const bottom = Math.ceil(Math.max(from.y, to.y) + reach);
  for (let y = top; y <= bottom; y++) {
    for (let x = left; x <= right; x++) {
      // How much of the pixel lies within the line, which is what makes its edge smooth.
      const inside = stroke.width / 2 + 0.5 - measureDistance({ x: x + 0.5, y: y + 0.5 }, from, to);
      paintPixel(canvas, { x, y }, stroke.colour, Math.min(inside, 1) * (stroke.opacity ?? 1));
    }
  }
}

function measureDistance(point: Point, from: Point, to: Point): number {
  const [dx, dy] = [to.x - from.x, to.y - from.y];
  const squared = dx * dx + dy * dy;
  const along = squared === 0 ? 0 : ((point.x - from.x) * dx + (point.y - from.y) * dy) / squared;
  const nearest = Math.min(Math.max(along, 0), 1);
  return Math.hypot(point.x - from.x - nearest * dx, point.y - from.y - nearest * dy);
}

export interface TextStyle {
  readonly colour: Colour;
  /** How many pixels one dot of the 5 × 7 font measures. */
  readonly scale: number;
  readonly align?: 'left' | 'centre' | 'right';
}

/** Draws one line of text whose top is at `at`, and whose left, middle or right end is there too. */
export function drawText(canvas: RgbaImage, text: string, at: Point, style: TextStyle): void {
  const { scale, colour, align = 'left' } = style;
  const shift = { left: 0, centre: 0.5, right: 1 }[align] * measureText(text, scale);
  for (const [i, character] of [...text].entries()) {
    for (const [column, bits] of findGlyph(character).entries()) {
      const x = Math.round(at.x - shift) + (i * (GLYPH_WIDTH + 1) + column) * scale;
      for (let row = 0; row < GLYPH_HEIGHT; row++) {
        const dot = { x, y: Math.round(at.y) + row * scale, width: scale, height: scale };
        if ((bits >> row) & 1) fillRectangle(canvas, dot, colour);
      }
    }
  }
}

export function measureText(text: string, scale: number): number {
  return Math.max(0, [...text].length * (GLYPH_WIDTH + 1) - 1) * scale;
}

/** Cuts a text that is wider than `width`, with two dots to show it. */
export function fitText(text: string, width: number, scale: number): string {
  const characters = [...text];
  const room = Math.floor((width / scale + 1) / (GLYPH_WIDTH + 1));
  return characters.length <= room ? text : `${characters.slice(0, Math.max(0, room - 2)).join('')}..`;
}
