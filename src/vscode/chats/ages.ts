export type AgeGroup = 'today' | 'yesterday' | 'week' | 'older';

export const AGE_GROUPS: readonly AgeGroup[] = ['today', 'yesterday', 'week', 'older'];

const DAYS_OF_WEEK = 7;

/** By calendar days in local time. A time in the future counts as today. */
export function ageGroup(time: number, now: number): AgeGroup {
  if (time >= startOfDay(now, 0)) return 'today';
  if (time >= startOfDay(now, 1)) return 'yesterday';
  return time >= startOfDay(now, DAYS_OF_WEEK - 1) ? 'week' : 'older';
}

function startOfDay(now: number, daysAgo: number): number {
  const day = new Date(now);
  return new Date(day.getFullYear(), day.getMonth(), day.getDate() - daysAgo).getTime();
}

const UNITS: readonly (readonly [Intl.RelativeTimeFormatUnit, number])[] = [
  ['year', 365 * 24 * 60 * 60],
  ['month', 30 * 24 * 60 * 60],
  ['week', 7 * 24 * 60 * 60],
  ['day', 24 * 60 * 60],
  ['hour', 60 * 60],
  ['minute', 60],
];

/** A relative time in the given language: “5 min. ago”, “now”. */
export function ageText(time: number, now: number, language: string): string {
  const seconds = Math.max(0, (now - time) / 1000);
  const [unit, length] = UNITS.find(([, each]) => seconds >= each) ?? ['second', Number.POSITIVE_INFINITY];
  const format = new Intl.RelativeTimeFormat(language, { numeric: 'auto', style: 'short' });
  return format.format(-Math.floor(seconds / length), unit);
}
