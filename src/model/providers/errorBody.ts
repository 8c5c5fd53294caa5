import { field, isObject, listOf, parseJson } from '../../base/json.ts';
import { firstOf, type WireEvent } from './repairs.ts';

/** Limits of foreign text. Providers write a few hundred characters. */
const MAX_BODY_CHARS = 200_000;
const MAX_DEPTH = 8;
const MAX_REASONS = 50;
const MAX_STRINGS = 1000;
const MAX_PLACES = 20;

interface ErrorBody {
  /** The provider's own words, or ''. */
  readonly reason: string;
  /** Its types and codes for the error, separated by spaces. */
  readonly names: string;
}

/** Reads the body of a refused request, or an error in a stream. Each provider has its own shape. */
export function readErrorBody(body: unknown): ErrorBody {
  const parsed = typeof body === 'string' ? readText(body) : body;
  // Gemini sends a list when it streams.
  const [outer] = Array.isArray(parsed) && parsed.every(isObject) ? parsed : [parsed];
  const inner = isObject(outer) && isObject(outer['error']) ? outer['error'] : outer;
  const known = join(firstFew(reasonsIn(parsed), MAX_REASONS));
  return {
    // A known field may contain only a name, such as “bad_request”.
    reason: isSentence(known) ? known : join([known, longestSentence(parsed)]) || namedWords(parsed),
    names: [...namesIn(outer), ...namesIn(inner)].join(' '),
  };
}

/** The error that an event reports, in any provider's shape. */
export function errorIn(event: WireEvent): WireEvent | undefined {
  const { type, object, error, response } = event;
  if (type === 'response.failed') return isObject(response) ? response : event;
  const choice = firstOf(event['choices']);
  // OpenRouter, beside the stop reason.
  if (isObject(choice['error'])) return choice;
  const isError = isObject(error) || (typeof error === 'string' && error !== '');
  return isError || type === 'error' || object === 'error' || isBareError(event) ? event : undefined;
}

/** The format of DashScope and FastAPI. No protocol has events with only a message and a code, or a detail. */
function isBareError(event: WireEvent): boolean {
  const { code, message, detail } = event;
  if ('type' in event || 'choices' in event || 'candidates' in event) return false;
  const isCode = code != null && !/^(?:0|200|ok|success)$/i.test(String(code));
  return typeof detail === 'string' || (typeof message === 'string' && isCode);
}

/** JSON, the events of a stream, or text. */
function readText(body: string): unknown {
  const text = body.slice(0, MAX_BODY_CHARS).trim();
  const parsed = parseJson(text);
  if (parsed !== undefined) return parsed;
  const events = [...text.matchAll(/^data:(.*)$/gm)].map(([, data = '']) => parseJson(data));
  if (events.length > 0) return events.filter(isObject);
  return text;
}

const HEADINGS = [/<title[^<>]*>([^<]*)</i, /<h1[^<>]*>([^<]*)</i, /<message[^<>]*>([^<]*)</i];
const ENTITIES: Readonly<Record<string, string>> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  '#39': "'",
  nbsp: ' ',
};

/** Of an HTML page, or the message of an error in XML. */
function titleOf(page: string): string {
  const found = HEADINGS.map((heading) => heading.exec(page)?.[1]?.trim() ?? '');
  const title = found.find((each) => each !== '') ?? '';
  return decode(title);
}

const MAX_SHOWN_CHARS = 300;
/** The time to remove elements that never end grows with the square of this. */
const MAX_PAGE_CHARS = 5000;

function pageText(page: string): string {
  return titleOf(page) || visibleText(page);
}

/** The first words of a page without a title, if it says more than a name. */
function visibleText(page: string): string {
  const body = page.slice(Math.max(0, page.search(/<body\b/i))).slice(0, MAX_PAGE_CHARS);
  const text = decode(body.replace(/<(script|style|head)\b.*?<\/\1\s*>|<!--.*?-->|<[^>]*>/gis, ' '));
  const words = text.replace(/\s+/g, ' ').trim().slice(0, MAX_SHOWN_CHARS);
  return isSentence(words) ? words : '';
}

function decode(text: string): string {
  return text.replace(/&(#?\w+);/g, (entity, name: string) => ENTITIES[name] ?? entity);
}

/** The fields that contain the reason or lead to it, the most exact last. */
const REASON_FIELDS = [
  ...['error', 'message', 'msg', 'detail', 'error_description', 'errors', 'details'],
  // Azure, and the provider behind OpenRouter.
  ...['innererror', 'metadata', 'raw'],
];

/** Every reason in the known fields. A string may contain JSON or a page, such as the response of another provider. */
function* reasonsIn(value: unknown, depth = 0): Generator<string> {
  if (depth > MAX_DEPTH) return;
  if (typeof value === 'string') {
    const reason = reasonInText(value.slice(0, MAX_BODY_CHARS));
    if (reason !== '') yield reason;
  } else if (Array.isArray(value)) {
    for (const each of value) yield* reasonsIn(each, depth + 1);
  } else if (isObject(value)) {
    // FastAPI names the field that is wrong.
    const { loc } = value;
    const place = Array.isArray(loc) ? `${loc.slice(0, MAX_PLACES).join('.')}: ` : '';
    for (const name of REASON_FIELDS)
      for (const reason of reasonsIn(byField(name, value[name]), depth + 1)) yield `${place}${reason}`;
  }
}

function reasonInText(text: string): string {
  if (/^\s*</.test(text)) return pageText(text);
  const nested = /^\s*[{[]/.test(text) ? parseJson(text) : undefined;
  return (nested === undefined ? '' : readErrorBody(nested).reason) || text.trim();
}

function firstFew<T>(items: Iterable<T>, max: number): readonly T[] {
  const few: T[] = [];
  for (const item of items) {
    few.push(item);
    if (few.length === max) break;
  }
  return few;
}

/** Some frameworks list the errors by the field that is wrong. */
function byField(name: string, value: unknown): unknown {
  if (name !== 'errors' || !isObject(value) || REASON_FIELDS.some((each) => each in value)) return value;
  return Object.entries(value).flatMap(([field, reasons]) => {
    const list: readonly unknown[] = Array.isArray(reasons) ? reasons : [reasons];
    return list.map((each) => (typeof each === 'string' ? `${field}: ${each}` : each));
  });
}

/** The first reason, and others in words that it does not contain. */
function join(reasons: readonly string[]): string {
  return reasons.reduce((all, each) => {
    if (all === '' || each.includes(all)) return each;
    if (all.includes(each) || !/\s/.test(each)) return all;
    return `${all.replace(/[.:]$/, '')}: ${each}`;
  }, '');
}

/** In a shape that is not known. */
function longestSentence(body: unknown): string {
  const sentences = firstFew(stringsIn(body), MAX_STRINGS).filter(isSentence);
  return sentences.reduce((longest, each) => (each.length > longest.length ? each : longest), '').trim();
}

/** A few words in a field such as `status_msg`. */
function namedWords(value: unknown, depth = 0): string {
  if (typeof value !== 'object' || value === null || depth > MAX_DEPTH) return '';
  const found = Object.entries(value).map(([name, each]) => {
    const isNamed = typeof each === 'string' && /msg|message|reason|description/i.test(name);
    return isNamed ? each.trim() : namedWords(each, depth + 1);
  });
  return found.find((each) => each !== '') ?? '';
}

function* stringsIn(value: unknown, depth = 0): Generator<string> {
  if (typeof value === 'string') {
    const text = value.slice(0, MAX_BODY_CHARS);
    yield /^\s*</.test(text) ? pageText(text) : text;
  } else if (typeof value === 'object' && value !== null && depth <= MAX_DEPTH) {
    for (const each of Object.values(value)) yield* stringsIn(each, depth + 1);
  }
}

/** The first letter of a word ends its beginning, so that a long word is not divided in all ways. */
const SENTENCE =
  /\p{L}[,:]?\s+[^\s\p{L}]*\p{L}\S*\s+[^\s\p{L}]*\p{L}|[\p{sc=Han}\p{sc=Hira}\p{sc=Kana}\p{sc=Thai}]{4}/u;

/** Three words in a row, in any script with spaces, or a run of a script without them. */
function isSentence(text: string): boolean {
  return SENTENCE.test(text);
}

/** Also Google's reasons, such as API_KEY_INVALID. */
function namesIn(value: unknown): readonly string[] {
  if (!isObject(value)) return [];
  const names = [value['type'], value['code'], value['status']];
  const reasons = listOf(value['details']).map((each) => field(each, 'reason'));
  return [...names, ...reasons].filter((each) => typeof each === 'string');
}
