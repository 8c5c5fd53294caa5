/** A canonical prefix (Huffman) code: for each symbol its bits and how many they are; 0 means unused. */
export interface PrefixCode {
  readonly lengths: readonly number[];
  readonly codes: readonly number[];
}

/** Builds a good code for symbols that occur `counts[symbol]` times, with no code longer than `maxLength`. */
export function buildPrefixCode(counts: readonly number[], maxLength: number): PrefixCode {
  let weights = counts;
  let lengths = measureLengths(weights);
  while (Math.max(...lengths) > maxLength) {
    // The square root draws the counts together and keeps their order, so the tree gets flatter.
    weights = weights.map(Math.sqrt);
    lengths = measureLengths(weights);
  }
  return { lengths, codes: assignCodes(lengths) };
}

/** Huffman's method: join the two rarest groups, which makes every code in them one bit longer. */
function measureLengths(counts: readonly number[]): number[] {
  const lengths = counts.map(() => 0);
  let groups = counts.flatMap((count, symbol) => (count > 0 ? [{ count, symbols: [symbol] }] : []));
  const [only] = groups;
  if (groups.length === 1 && only) for (const symbol of only.symbols) lengths[symbol] = 1;
  while (groups.length > 1) {
    const [rarest, second, ...rest] = groups.sort((a, b) => a.count - b.count);
    if (!rarest || !second) break;
    const symbols = [...rarest.symbols, ...second.symbols];
    for (const symbol of symbols) lengths[symbol] = (lengths[symbol] ?? 0) + 1;
    groups = [...rest, { count: rarest.count + second.count, symbols }];
  }
  return lengths;
}

/** Canonical order: shorter codes first, and among equals the lower symbol first. */
function assignCodes(lengths: readonly number[]): number[] {
  const codes = lengths.map(() => 0);
  let next = 0;
  for (let length = 1; length <= Math.max(...lengths); length++) {
    next <<= 1;
    for (const [symbol, own] of lengths.entries()) if (own === length) codes[symbol] = next++;
  }
  return codes;
}
