/** How long a server wants us to wait; undefined when it does not say. */
export function readRetryAfter(
  headers: Readonly<Record<string, string>>,
  now: number,
  body = '',
): number | undefined {
  const milliseconds = Number.parseFloat(headers['retry-after-ms'] ?? '');
  if (milliseconds >= 0) return Math.round(milliseconds);
  const value = (headers['retry-after'] ?? '').trim();
  if (/^\d+(\.\d+)?$/.test(value)) return Math.round(Number(value) * 1000);
  // Only a date has letters; `Date.parse` would make a date of some numbers too.
  const date = /[a-z]/i.test(value) ? Date.parse(value) : Number.NaN;
  if (!Number.isNaN(date)) return Math.max(0, date - now);
  // Gemini says it in the body of the error.
  const delay = /"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1];
  return delay === undefined ? undefined : Math.round(Number(delay) * 1000);
}
