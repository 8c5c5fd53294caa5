/** The formats of text that a form may ask for. Others are the server's to judge. */
export type TextFormat = 'email' | 'uri' | 'date' | 'date-time';

/** Addresses and dates are shorter; what is longer is not looked at. */
const MAX_CHARS = 10_000;

const CHECKS: Readonly<Record<TextFormat, (text: string) => boolean>> = {
  email: isEmail,
  uri: isUri,
  date: isDate,
  'date-time': isDateTime,
};

export function isTextFormat(value: unknown): value is TextFormat {
  return typeof value === 'string' && Object.hasOwn(CHECKS, value);
}

export function hasFormat(format: TextFormat, text: string): boolean {
  return text.length <= MAX_CHARS && CHECKS[format](text);
}

/** Only what every mailbox has; the rest is known to the mail server alone. */
function isEmail(text: string): boolean {
  const at = text.lastIndexOf('@');
  const labels = text.slice(at + 1).split('.');
  return at > 0 && !/[\s@]/.test(text.slice(0, at)) && labels.every(isLabel);
}

function isLabel(label: string): boolean {
  return (
    label !== '' && !/[^\p{L}\p{M}\p{N}-]/u.test(label) && !label.startsWith('-') && !label.endsWith('-')
  );
}

function isUri(text: string): boolean {
  return /^[a-z][a-z0-9+.-]*:[^\s<>"{}|\\^`]+$/i.test(text) && URL.canParse(text);
}

const DATE = /^(\d{4})-(\d\d)-(\d\d)$/;

function isDate(text: string): boolean {
  const [, year = '', month = '', day = ''] = DATE.exec(text) ?? [];
  const date = new Date(`${year}-${month}-${day}T00:00:00Z`);
  // February 30 would be a day in March.
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text);
}

const TIME = /^(?:[01]\d|2[0-3]):[0-5]\d:(?:[0-5]\d|60)(?:\.\d{1,9})?(?:z|[+-](?:[01]\d|2[0-3]):[0-5]\d)$/i;

function isDateTime(text: string): boolean {
  return isDate(text.slice(0, 10)) && /^[Tt]$/.test(text.charAt(10)) && TIME.test(text.slice(11));
}
