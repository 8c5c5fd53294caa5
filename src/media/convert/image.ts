import { readFile } from 'node:fs/promises';
import { crop, initPhoton, PhotonImage, resize, SamplingFilter } from '@cf-wasm/photon/others';
import { ConversionError, type ConvertedImage, type ImageJob } from './job.ts';

/** The build copies the file beside this module. */
const WASM = import.meta.url.endsWith('.ts')
  ? import.meta.resolve('@cf-wasm/photon/photon.wasm')
  : './photon.wasm';

const JPEG_QUALITIES = [85, 60, 40];
/** A photo as PNG is many times larger than as JPEG, so that PNG is only used if it is small. */
const MAX_PNG_BYTES = 1_500_000;

export async function loadPhoton(): Promise<void> {
  await initPhoton({ module_or_path: await readFile(new URL(WASM, import.meta.url)) });
}

/** Scales, turns, cuts and encodes. */
export function convertImage(job: ImageJob): readonly ConvertedImage[] {
  const image = turn(scale(decode(job.bytes), job), job.orientation);
  const isPhoto = job.mimeType === 'image/jpeg';
  if (job.boxes.length === 1) return [encode(image, isPhoto, job.maxBytes)];
  return job.boxes.map(({ left, top, width, height }) => {
    const part = crop(image, left, top, left + width, top + height);
    const encoded = encode(part, isPhoto, job.maxBytes);
    part.free();
    return encoded;
  });
}

function decode(bytes: Uint8Array): PhotonImage {
  try {
    return PhotonImage.new_from_byteslice(bytes);
  } catch {
    // The library says only “unreachable”.
    throw new ConversionError('it cannot be decoded');
  }
}

function scale(image: PhotonImage, { size, orientation }: ImageJob): PhotonImage {
  const [width, height] = orientation > 4 ? [size.height, size.width] : [size.width, size.height];
  if (image.get_width() === width && image.get_height() === height) return image;
  const scaled = resize(image, width, height, SamplingFilter.Lanczos3);
  image.free();
  return scaled;
}

/** The library's own rotation damages the pixels. */
function turn(image: PhotonImage, orientation: number): PhotonImage {
  if (orientation === 1) return image;
  const [width, height] = [image.get_width(), image.get_height()];
  const turned = turnPixels({ pixels: image.get_raw_pixels(), width, height }, orientation);
  image.free();
  return new PhotonImage(turned.pixels, turned.width, turned.height);
}

interface Pixels {
  readonly pixels: Uint8Array;
  readonly width: number;
  readonly height: number;
}

/** Turns and mirrors as EXIF orientations 2 to 8 say. */
export function turnPixels({ pixels, width, height }: Pixels, orientation: number): Pixels {
  const isSwapped = orientation > 4;
  const [toWidth, toHeight] = isSwapped ? [height, width] : [width, height];
  const from = new Uint32Array(pixels.slice().buffer);
  const to = new Uint32Array(from.length);
  const fromRight = [2, 3, 7, 8].includes(orientation);
  const fromBottom = [3, 4, 6, 7].includes(orientation);
  for (let y = 0; y < toHeight; y += 1) {
    for (let x = 0; x < toWidth; x += 1) {
      const [column, row] = isSwapped ? [y, x] : [x, y];
      const fromX = fromRight ? width - 1 - column : column;
      const fromY = fromBottom ? height - 1 - row : row;
      to[y * toWidth + x] = from[fromY * width + fromX] ?? 0;
    }
  }
  return { pixels: new Uint8Array(to.buffer), width: toWidth, height: toHeight };
}

function encode(image: PhotonImage, isPhoto: boolean, maxBytes: number): ConvertedImage {
  const png = isPhoto ? undefined : image.get_bytes();
  if (png && png.length <= Math.min(MAX_PNG_BYTES, maxBytes)) return { mimeType: 'image/png', bytes: png };
  const opaque = isPhoto ? image : onWhite(image);
  try {
    for (const quality of JPEG_QUALITIES) {
      const bytes = opaque.get_bytes_jpeg(quality);
      if (bytes.length <= maxBytes) return { mimeType: 'image/jpeg', bytes };
    }
  } finally {
    if (opaque !== image) opaque.free();
  }
  throw new ConversionError('it is too large even after it was scaled');
}

/** JPEG has no transparency. Transparent pixels are often black, and so is the text of many diagrams. */
function onWhite(image: PhotonImage): PhotonImage {
  const pixels = image.get_raw_pixels();
  for (let at = 3; at < pixels.length; at += 4) {
    const alpha = pixels[at] ?? 255;
    if (alpha === 255) continue;
    for (let color = at - 3; color < at; color += 1)
      pixels[color] = 255 - Math.round(((255 - (pixels[color] ?? 255)) * alpha) / 255);
    pixels[at] = 255;
  }
  return new PhotonImage(pixels, image.get_width(), image.get_height());
}
