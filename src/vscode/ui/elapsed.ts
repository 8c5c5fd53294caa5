import { t } from './words.ts';

/** `12 s` or `1 min 05 s`. */
export function describeSeconds(seconds: number): string {
  if (seconds < 60) return t('{0} s', seconds);
  return t('{0} min {1} s', Math.floor(seconds / 60), String(seconds % 60).padStart(2, '0'));
}
