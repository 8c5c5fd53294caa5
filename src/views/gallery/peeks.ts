/** How far from its type the page count of a dictionary may be. */
const NEAR_CHARS = 2000;
const MAX_BRANCHES = 5000;

/** Reads the page count of a PDF from its uncompressed objects; many PDFs have none there. */
export function countPdfPages(text: string): number | undefined {
  const linear = /\/Linearized\b[^>]{0,200}?\/N (\d{1,6})\b/.exec(text.slice(0, 2048));
  if (linear) return positive(linear[1]);
  // The root of the page tree has the largest count.
  let [most, left] = [0, MAX_BRANCHES];
  for (const { index } of text.matchAll(/\/Type\s*\/Pages\b/g)) {
    if (left === 0) break;
    left -= 1;
    const before = text.slice(Math.max(0, index - NEAR_CHARS), index);
    const behind = text.slice(index, index + NEAR_CHARS);
    const dictionary = `${before.slice(before.lastIndexOf('>') + 1)}${behind.split('>', 1)[0]}`;
    most = Math.max(most, Number(/\/Count (\d{1,6})\b/.exec(dictionary)?.[1] ?? 0));
  }
  return positive(most);
}

function positive(value: number | string | undefined): number | undefined {
  const number = Number(value);
  return number > 0 ? number : undefined;
}

/** The peak of each section, scaled so that the loudest is 1. */
export function peaksOf(samples: Float32Array, bars: number): readonly number[] {
  if (samples.length === 0) return [];
  const peaks = Array.from({ length: bars }, (_, bar) => {
    const start = Math.floor((bar * samples.length) / bars);
    const end = Math.max(start + 1, Math.floor(((bar + 1) * samples.length) / bars));
    let peak = 0;
    for (let at = start; at < end; at += 1) peak = Math.max(peak, Math.abs(samples[at] ?? 0));
    return peak;
  });
  const loudest = Math.max(...peaks);
  return loudest > 0 ? peaks.map((peak) => peak / loudest) : peaks;
}

/** `3:07` */
export function describeDuration(seconds: number): string {
  const whole = Math.round(seconds);
  return `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, '0')}`;
}
