export interface BitWriter {
  /** Appends the lowest `count` bits of `value`. */
  write(value: number, count: number): void;
  /** Fills the last byte with `padding` bits and returns everything written. */
  finish(padding?: 0 | 1): Uint8Array;
}

/**
 * JPEG and MP3 fill each byte from its highest bit and send values with the highest bit first;
 * GIF and WebP do the opposite in both.
 */
export function createBitWriter(order: 'high-first' | 'low-first'): BitWriter {
  const highFirst = order === 'high-first';
  const bytes: number[] = [];
  let current = 0;
  let used = 0;

  const push = (bit: number): void => {
    current |= bit << (highFirst ? 7 - used : used);
    used += 1;
    if (used === 8) {
      bytes.push(current);
      current = 0;
      used = 0;
    }
  };

  return {
    write(value, count) {
      for (let i = 0; i < count; i++) push((value >>> (highFirst ? count - 1 - i : i)) & 1);
    },
    finish(padding = 0) {
      while (used > 0) push(padding);
      return Uint8Array.from(bytes);
    },
  };
}
