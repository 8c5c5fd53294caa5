/** The loudest of each stretch of a sound, from 0 to 1, so that its bars fill their height. */
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
