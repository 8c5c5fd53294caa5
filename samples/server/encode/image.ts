/** Pixels as the encoders take them: four bytes each (red, green, blue, alpha), row after row. */
export interface RgbaImage {
  readonly width: number;
  readonly height: number;
  readonly pixels: Uint8ClampedArray;
}

export interface Rgba {
  readonly red: number;
  readonly green: number;
  readonly blue: number;
  readonly alpha: number;
}

/** Coordinates outside the image read the nearest pixel inside, which is how JPEG wants its edge blocks filled. */
export function readPixel(image: RgbaImage, x: number, y: number): Rgba {
  const column = Math.min(Math.max(x, 0), image.width - 1);
  const row = Math.min(Math.max(y, 0), image.height - 1);
  const at = (row * image.width + column) * 4;
  const [red = 0, green = 0, blue = 0, alpha = 0] = image.pixels.subarray(at, at + 4);
  return { red, green, blue, alpha };
}
