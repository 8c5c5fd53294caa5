import { mediaByExtension } from '../media/table.ts';
import type { ToolName } from '../ports/tools.ts';

/** One entry of `results.fields`: where in a tool's JSON bytes are, what they are, and what to say of them. */
export interface FieldRule {
  /** Names divided by dots; `[]` or `*` is every element: `pages[].image`, `files.*.data`. */
  readonly path: string;
  /** A media type or an extension. */
  readonly type?: string;
  /** With `{kind} {name} {size} {type} {ref}` and the names of the fields beside it. */
  readonly summary?: string;
}

/** A string that a rule points at. */
export interface FieldHit {
  readonly data: string;
  readonly declared?: string;
  /** The rule's summary, with the values of the fields beside it filled in. */
  readonly summary?: string;
}

/** The rules of one tool, out of a setting that may hold anything. */
export function readFieldRules(setting: unknown, { server, tool }: ToolName): readonly FieldRule[] {
  const rules = ownValue(setting, `${server}.${tool}`);
  if (!Array.isArray(rules)) return [];
  return rules.flatMap((rule: unknown) => {
    const path = ownValue(rule, 'path');
    if (typeof path !== 'string' || path === '') return [];
    return [{ path, ...text(rule, 'type'), ...text(rule, 'summary') }];
  });
}

/** The layer of the settings: what the rules find in a value. */
export function findFields(value: unknown, rules: readonly FieldRule[]): readonly FieldHit[] {
  return rules.flatMap((rule) => {
    const steps = readPath(rule.path);
    const last = steps.pop();
    if (last === undefined) return [];
    let owners: readonly unknown[] = [value];
    for (const step of steps) owners = owners.flatMap((owner) => take(owner, step));
    return owners.flatMap((owner) => take(owner, last).flatMap((data) => readHit(rule, owner, data)));
  });
}

/** Beyond this, reading JSON would keep everybody waiting; the layers after this one still see the text. */
const MAX_PARSED_CHARS = 4_000_000;

/** The same for a text that is JSON. The text around what was found stays as it was written. */
export function findFieldsInText(json: string, rules: readonly FieldRule[]): readonly (string | FieldHit)[] {
  if (rules.length === 0 || json.length > MAX_PARSED_CHARS || !/^\s*[[{]/.test(json)) return [json];
  let value: unknown;
  try {
    value = JSON.parse(json);
  } catch {
    return [json];
  }
  let pieces: readonly (string | FieldHit)[] = [json];
  for (const hit of new Map(findFields(value, rules).map((each) => [each.data, each])).values()) {
    pieces = pieces.flatMap((piece) => (typeof piece === 'string' ? cutOut(piece, hit) : [piece]));
  }
  return pieces;
}

/** Takes a string out of JSON, with and without escaped slashes and leaving the quotes. */
function cutOut(text: string, hit: FieldHit): readonly (string | FieldHit)[] {
  const written = JSON.stringify(hit.data);
  const escaped = written.replaceAll('/', '\\/');
  const literal = text.includes(written) ? written : escaped;
  return text
    .split(literal)
    .flatMap((piece, at, all) => [
      `${at > 0 ? '"' : ''}${piece}${at < all.length - 1 ? '"' : ''}`,
      ...(at < all.length - 1 ? [hit] : []),
    ]);
}

const EACH = '*';

function readPath(path: string): string[] {
  return path
    .replace(/^\$\.?/, '')
    .replace(/\[(\d*|\*)\]/g, (_whole, index: string) => `.${index === '' ? EACH : index}`)
    .split('.')
    .filter((step) => step !== '');
}

function take(owner: unknown, step: string): readonly unknown[] {
  if (step === EACH) return typeof owner === 'object' && owner !== null ? Object.values(owner) : [];
  const value = ownValue(owner, step);
  return value === undefined ? [] : [value];
}

function readHit({ type, summary }: FieldRule, owner: unknown, data: unknown): readonly FieldHit[] {
  if (typeof data !== 'string' || data === '') return [];
  const declared = type === undefined ? undefined : (mediaByExtension(type)?.types[0] ?? type);
  return [
    {
      data,
      ...(declared === undefined ? {} : { declared }),
      ...(summary === undefined ? {} : { summary: fillNeighbours(summary, owner) }),
    },
  ];
}

/** What is known of the asset only later; a field of the same name does not count, but for the name. */
const LATER = new Set(['kind', 'size', 'type', 'ref']);
const MAX_NEIGHBOUR_CHARS = 60;

function fillNeighbours(summary: string, owner: unknown): string {
  return summary.replace(/\{(\w+)\}/g, (placeholder, key: string) => {
    const value = LATER.has(key) ? undefined : ownValue(owner, key);
    const shown = typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
    // Braces would be taken for a placeholder when the rest is filled in.
    return shown === undefined || shown.length > MAX_NEIGHBOUR_CHARS
      ? placeholder
      : shown.replace(/[{}]/g, '');
  });
}

function ownValue(owner: unknown, key: string): unknown {
  if (typeof owner !== 'object' || owner === null || !Object.hasOwn(owner, key)) return undefined;
  return Reflect.get(owner, key);
}

function text<K extends string>(owner: unknown, key: K): { readonly [P in K]?: string } {
  const value = ownValue(owner, key);
  return (typeof value === 'string' && value !== '' ? { [key]: value } : {}) as { [P in K]?: string };
}
