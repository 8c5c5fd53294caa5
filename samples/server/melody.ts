import type { Sound } from './encode/wav.ts';

export interface Note {
  readonly hertz: number;
  readonly seconds: number;
}

/** How loud a tone is, and its overtones at twice and three times its frequency. */
const OVERTONES = [0.6, 0.18, 0.08];
const ATTACK_SECONDS = 0.01;

/** Plays notes one after the other, each struck and fading like a bell. */
export function renderMelody(notes: readonly Note[], sampleRate: number): Sound {
  const parts = notes.map((note) => renderNote(note, sampleRate));
  return { samples: Float64Array.from(parts.flatMap((part) => [...part])), sampleRate };
}

function renderNote({ hertz, seconds }: Note, sampleRate: number): Float64Array {
  // An overtone that the sample rate cannot carry would come back as a false, lower tone.
  const audible = OVERTONES.filter((_, i) => hertz * (i + 1) < sampleRate * 0.45);
  return Float64Array.from({ length: Math.round(seconds * sampleRate) }, (_, i) => {
    const time = i / sampleRate;
    const attack = Math.min(time / ATTACK_SECONDS, 1);
    const release = Math.min((seconds - time) / ATTACK_SECONDS, 1);
    const fade = Math.exp((-2.5 * time) / seconds);
    const wave = audible.reduce(
      (sum, loud, n) => sum + loud * Math.sin(2 * Math.PI * hertz * (n + 1) * time),
      0,
    );
    return attack * release * fade * wave;
  });
}

/** A frequency counted in half tones from the A of 440 Hz. */
export function tuneHalfTones(halfTonesFromA4: number): number {
  return 440 * 2 ** (halfTonesFromA4 / 12);
}
