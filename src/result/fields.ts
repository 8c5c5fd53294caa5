import { defined, field } from '../base/json.ts';
import { mediaByExtension } from '../media/table.ts';
import type { ToolName } from '../ports/tools.ts';

/** An entry of the setting `results.fields`: where a tool's JSON contains bytes. */
export interface FieldRule {
  /** Names separated by dots; `[]` or `*` matches every element: `pages[].image`, `files.*.data`. */
  readonly path: string;
  /** A MIME type or an extension. */
  readonly type?: string;
  /** A template with `{kind} {name} {size} {type} {ref}` and the names of sibling fields. */
  readonly summary?: string;
}

export interface FieldHit {
  readonly data: string;
  readonly declared?: string;
  /** The rule's summary with the values of sibling fields filled in. */
  readonly summary?: string;
}

/** Reads the rules of one tool from a setting that is not validated. */
export function readFieldRules(setting: unknown, { server, tool }: ToolName): readonly FieldRule[] {
  const rules = field(setting, `${server}.${tool}`);
  if (!Array.isArray(rules)) return [];
  return rules.flatMap((rule: unknown) => {
    const path = text(rule, 'path');
    if (path === undefined) return [];
    return [{ path, ...defined({ type: text(rule, 'type'), summary: text(rule, 'summary') }) }];
  });
}

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

/** Parsing longer JSON would block the event loop; such text is still searched for base64. */
const MAX_PARSED_CHARS = 4_000_000;

/** `findFields` for JSON text. Keeps the text around the matches unchanged. */
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
  const value = field(owner, step);
  return value === undefined ? [] : [value];
}

function readHit({ type, summary }: FieldRule, owner: unknown, data: unknown): readonly FieldHit[] {
  if (typeof data !== 'string' || data === '') return [];
  const declared = type && (mediaByExtension(type)?.types[0] ?? type);
  return [{ data, ...defined({ declared, summary: summary && fillSiblings(summary, owner) }) }];
}

/** Filled in when the asset is saved; sibling fields of the same name are ignored. */
const ASSET_KEYS = new Set(['kind', 'size', 'type', 'ref']);
const MAX_SIBLING_CHARS = 60;

function fillSiblings(summary: string, owner: unknown): string {
  return summary.replace(/\{(\w+)\}/g, (placeholder, key: string) => {
    const value = ASSET_KEYS.has(key) ? undefined : field(owner, key);
    const shown = typeof value === 'string' || typeof value === 'number' ? String(value) : undefined;
    // Braces would look like a placeholder when the rest is filled in.
    return shown === undefined || shown.length > MAX_SIBLING_CHARS ? placeholder : shown.replace(/[{}]/g, '');
  });
}

function text(owner: unknown, key: string): string | undefined {
  const value = field(owner, key);
  return typeof value === 'string' && value !== '' ? value : undefined;
}
