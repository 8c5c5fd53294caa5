const BYTES_PER_LINE = 16;
const HALF = BYTES_PER_LINE / 2;
/** Longer ones are for files of more than 4 GiB. */
const OFFSET_DIGITS = 8;

/** Bytes as one can read them: where they are in the file, each as two digits, and as letters where they are some. */
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

/** Only what every font shows, and shows as one column. */
function letters(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => (byte >= 0x20 && byte < 0x7f ? String.fromCharCode(byte) : '.')).join(
    '',
  );
}
