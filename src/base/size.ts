/** A rough average for estimates of text that is not worth tokenizing. */
export const CHARS_PER_TOKEN = 4;

/** Files of this size and larger are reported when they are received or sent. */
export const LARGE_FILE_BYTES = 10 * 1024 * 1024;

/** `12.3 MB`, with KB = 1000 bytes as in VS Code. `format` formats the number for the user's language. */
export function describeSize(bytes: number, format = (value: number) => value.toFixed(1)): string {
  if (bytes < 1000) return `${bytes} bytes`;
  const units = ['KB', 'MB', 'GB'];
  let value = bytes / 1000;
  let unit = 0;
  for (; value >= 999.95 && unit < units.length - 1; unit += 1) value /= 1000;
  return `${format(value)} ${units[unit]}`;
}
