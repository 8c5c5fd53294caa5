import { isObject, parseJson } from '../../base/json.ts';

/** Limits of foreign text. Providers write a few hundred characters. */
const MAX_BODY_CHARS = 200_000;
const MAX_DEPTH = 4;

export interface ErrorBody {
  /** The provider's own words, or ''. */
  readonly reason: string;
  /** Its types and codes for the error, separated by spaces. */
  readonly names: string;
}

/** Reads the body of a refused request, or an error in a stream. Each provider has its own shape. */
export function readErrorBody(body: unknown): ErrorBody {
  const parsed = typeof body === 'string' ? readText(body) : body;
  // Gemini sends a list when it streams.
  const [outer] = Array.isArray(parsed) ? parsed : [parsed];
  if (typeof outer === 'string') return { reason: outer, names: '' };
  if (!isObject(outer)) return { reason: '', names: '' };
  const inner = isObject(outer['error']) ? outer['error'] : outer;
  const own = reasonIn(outer);
  const original = originalReason(inner['metadata']);
  return {
    reason: original === '' || own.includes(original) ? own : join(own, original),
    names: [...namesIn(outer), ...namesIn(inner), ...detailNames(inner['details'])].join(' '),
  };
}

/** JSON, or plain text; nothing of an HTML page. */
function readText(body: string): unknown {
  if (body.length > MAX_BODY_CHARS) return undefined;
  const parsed = parseJson(body);
  if (parsed !== undefined) return parsed;
  return /^\s*</.test(body) ? undefined : body.trim();
}

/** `error` is an object or a string; Mistral's `message` can be an object, and FastAPI has a list in `detail`. */
function reasonIn(value: unknown, depth = 0): string {
  if (typeof value === 'string') return value.trim();
  if (depth > MAX_DEPTH) return '';
  if (Array.isArray(value)) {
    const all = value.map((each) => reasonIn(each, depth + 1)).filter((each) => each !== '');
    return [...new Set(all)].join('; ');
  }
  if (!isObject(value)) return '';
  const found = ['error', 'message', 'detail', 'msg', 'error_description'].map((name) =>
    reasonIn(value[name], depth + 1),
  );
  return found.find((each) => each !== '') ?? '';
}

/** OpenRouter passes the response of the provider behind it on as a string. */
function originalReason(metadata: unknown): string {
  const raw = isObject(metadata) ? metadata['raw'] : undefined;
  return typeof raw === 'string' ? readErrorBody(raw).reason : reasonIn(raw);
}

function join(own: string, original: string): string {
  return own === '' ? original : `${own.replace(/\.$/, '')}: ${original}`;
}

function namesIn(value: Readonly<Record<string, unknown>>): readonly string[] {
  return [value['type'], value['code'], value['status']].filter((each) => typeof each === 'string');
}

/** Google's reasons, such as API_KEY_INVALID. */
function detailNames(details: unknown): readonly string[] {
  const list: readonly unknown[] = Array.isArray(details) ? details : [];
  return list.flatMap((each) =>
    isObject(each) && typeof each['reason'] === 'string' ? [each['reason']] : [],
  );
}
