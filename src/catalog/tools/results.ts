import { TimeSlice } from '../../base/async.ts';
import { describeSize } from '../../base/size.ts';
import type { Asset, ResultPart, TextPart } from '../../ports/results.ts';
import { findBase64Runs } from '../../result/findBase64.ts';
import { normalizeLines } from '../../result/blocks.ts';
import type { FileWindow } from '../windows.ts';

export interface ShownWindow {
  /** `asset:NAME` or an address. */
  readonly reference: string;
  /** Describes the file and the bounds of the window. */
  readonly about: string;
  readonly window: FileWindow;
  /** Set for an image that the chat can show. */
  readonly image?: Asset | undefined;
  /** True for an image that the chat cannot show. */
  readonly isForeignImage?: boolean | undefined;
}

/** Returns parts without base64, so that nothing in them is saved as a new asset. */
export async function windowParts(shown: ShownWindow): Promise<readonly ResultPart[]> {
  const { reference, about, window, image, isForeignImage } = shown;
  const { body, mimeType, start, totalBytes } = window;
  if (image) return [text(`${mimeType}, ${describeSize(totalBytes)}.`), { kind: 'asset', asset: image }];
  if (isForeignImage) return [text(`${mimeType}, ${describeSize(totalBytes)}. ${FOREIGN_IMAGE}`)];
  if (body.kind === 'text') {
    const { kept, isCut } = await withoutBase64(normalizeLines(body.text));
    const said = isCut ? `${about} ${BASE64_LEFT_OUT}` : about;
    return [text(said), { kind: 'text', text: kept, source: { uri: reference, mimeType } }];
  }
  const hint = reference.startsWith('asset:') ? ` ${handOver(reference)}` : '';
  const view = hexView(body.bytes, start);
  return view === '' ? [text(about)] : [text(`${about}${hint}`), text(view)];
}

const FOREIGN_IMAGE =
  'This image is in another folder, so it cannot be shown here. With as: "bytes" you get its bytes.';
const BASE64_LEFT_OUT = 'Base64 in it is left out. With as: "bytes" you get it all as bytes.';

function handOver(reference: string): string {
  return `To give the file to a tool, write ${reference} as the argument.`;
}

/** Longer than any name, number or checksum. */
const MIN_BASE64_CHARS = 240;

/** Base64 tells a model nothing and costs many tokens. */
async function withoutBase64(value: string): Promise<{ readonly kept: string; readonly isCut: boolean }> {
  const pieces: string[] = [];
  let from = 0;
  for await (const { start, end, length, pieces: digits } of findBase64Runs(value, new TimeSlice())) {
    if (length < MIN_BASE64_CHARS || !isMixed(digits.join(''))) continue;
    pieces.push(value.slice(from, start), `[${end - start} characters of base64]`);
    from = end;
  }
  return { kept: `${pieces.join('')}${value.slice(from)}`, isCut: from > 0 };
}

/** Long words, numbers, hexadecimal digits and gene sequences lack one of these. */
function isMixed(digits: string): boolean {
  return /[A-Z]/.test(digits) && /[a-z]/.test(digits) && /[0-9]/.test(digits);
}

function text(value: string): TextPart {
  return { kind: 'text', text: value };
}

const BYTES_PER_LINE = 16;
const HALF = BYTES_PER_LINE / 2;
/** Enough for 4 GiB. */
const OFFSET_DIGITS = 8;

/** Offset, hexadecimal digits and ASCII, as hex editors show them. */
export function hexView(bytes: Uint8Array, start: number): string {
  const lines: string[] = [];
  for (let at = 0; at < bytes.length; at += BYTES_PER_LINE) {
    lines.push(line(bytes.subarray(at, at + BYTES_PER_LINE), start + at));
  }
  return lines.join('\n');
}

function line(bytes: Uint8Array, offset: number): string {
  const digits = Array.from(bytes, (byte) => byte.toString(16).padStart(2, '0'));
  const halves = [digits.slice(0, HALF), digits.slice(HALF)].map((half) => half.join(' '));
  const width = 3 * BYTES_PER_LINE;
  const shown = offset.toString(16).padStart(OFFSET_DIGITS, '0');
  return `${shown}  ${halves.join('  ').padEnd(width)}  |${letters(bytes)}|`;
}

function letters(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join(
    '',
  );
}
