import { isObject } from '../../base/json.ts';
import { describeSize } from '../../base/size.ts';
import { placeUnder, type SchemaPlace } from './schema.ts';

const MAX_DEPTH = 64;
const MAX_NODES = 10_000;
const MAX_CHARS = 256 * 1024;
/** Estimate for braces, quotes and commas. */
const CHARS_PER_NODE = 2;
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'] as const;

/**
 * Why a schema is unsafe to use, as the end of a sentence; undefined if it is safe. Unknown keywords and dialects are
 * allowed. Never visits more than the limits, and never uses the network.
 */
export function schemaProblem(schema: unknown): string | undefined {
  const found = new SchemaFindings();
  // A stack instead of recursion, so that deep nesting cannot overflow.
  const pending: PendingNode[] = [{ value: schema, depth: 1, place: 'schema' }];
  let nodes = 0;
  let chars = 0;
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const { value, depth, place } = next;
    nodes += 1;
    chars += CHARS_PER_NODE + (typeof value === 'string' ? value.length : 0);
    if (typeof value === 'object' && value !== null) {
      if (depth > MAX_DEPTH) return `is nested more than ${MAX_DEPTH} levels deep`;
      // Checked before visiting the values, because there may be millions.
      const size = Array.isArray(value) ? value.length : Object.keys(value).length;
      if (nodes + pending.length + size > MAX_NODES) return `has more than ${MAX_NODES} values`;
      if (place === 'schema' && isObject(value)) found.add(value);
      for (const [key, each] of Object.entries(value)) {
        chars += key.length;
        const under = Array.isArray(value) ? place : placeUnder(place, key);
        pending.push({ value: each, depth: depth + 1, place: under });
      }
    }
    if (chars > MAX_CHARS) return `is larger than ${describeSize(MAX_CHARS)}`;
  }
  return found.problem();
}

interface PendingNode {
  readonly value: unknown;
  readonly depth: number;
  readonly place: SchemaPlace;
}

/** Collects references and patterns, which can only be judged after the whole schema was visited. */
class SchemaFindings {
  readonly #ids = new Set<string>();
  readonly #references = new Set<string>();
  readonly #patterns = new Set<string>();

  add(keywords: Readonly<Record<string, unknown>>): void {
    const { $id: id, pattern, patternProperties } = keywords;
    if (typeof id === 'string') this.#ids.add(withoutFragment(id));
    if (typeof pattern === 'string') this.#patterns.add(pattern);
    if (isObject(patternProperties)) {
      for (const each of Object.keys(patternProperties)) this.#patterns.add(each);
    }
    for (const keyword of REFERENCES) {
      const reference = keywords[keyword];
      if (typeof reference === 'string') this.#references.add(reference);
    }
  }

  problem(): string | undefined {
    // References to embedded schemas by their `$id` are local.
    const isRemote = (each: string) => !each.startsWith('#') && !this.#ids.has(withoutFragment(each));
    const remote = [...this.#references].find(isRemote);
    if (remote !== undefined) return `refers to ${quote(remote)}, which is not fetched`;
    const slow = [...this.#patterns].find(canBacktrackCatastrophically);
    return slow === undefined
      ? undefined
      : `has the pattern ${quote(slow)}, which could hang (catastrophic backtracking)`;
  }
}

function withoutFragment(address: string): string {
  return address.split('#', 1)[0] ?? '';
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

const MAX_PATTERN_CHARS = 4000;
/** Repeats of at least this count are treated as unbounded. */
const MANY = 10;

/**
 * True when a repeated group can match the same text in many ways, as in `^(a+)+$`. Unlike `isSafePattern` it reports
 * only certain cases, so that the patterns of ordinary schemas, such as e-mail addresses, pass.
 */
export function canBacktrackCatastrophically(pattern: string): boolean {
  return pattern.length > MAX_PATTERN_CHARS || hasAmbiguousRepeat(new PatternReader(pattern).read());
}

/** An element of a pattern: which characters it can match, and how often. */
interface PatternItem {
  /** One bit for each of `SAMPLE_CHARS` that it can match. */
  readonly chars: bigint;
  readonly min: number;
  readonly max: number;
  readonly alternatives?: readonly (readonly PatternItem[])[];
}

const SAMPLE_CHARS = [
  ...Array.from({ length: 128 }, (_, code) => String.fromCharCode(code)),
  'é',
  '中',
  '\u2028',
];
const TOKEN = /\\(?:u\{[^}]*\}|[pP]\{[^}]*\}|u....|x..|c.|.)|\[(?:\\.|[^\]\\])*\]|[\s\S]/gsu;
const GROUP_START = /^\?(?:[:=!]|<[=!]|<[^>]*>)/;
const COUNT = /^\{(\d+)(?:(,)(\d*))?\}/;

/** A tolerant parser for the parts of regular expressions that matter here. Never throws. */
class PatternReader {
  readonly #tokens: readonly string[];
  readonly #chars = new Map<string, bigint>();
  #at = 0;

  constructor(pattern: string) {
    this.#tokens = [...pattern.matchAll(TOKEN)].map(([token]) => token);
  }

  read(): readonly (readonly PatternItem[])[] {
    const alternatives: PatternItem[][] = [[]];
    for (let token = this.#next(); token !== undefined && token !== ')'; token = this.#next()) {
      if (token === '|') alternatives.push([]);
      else if (token === '(') alternatives.at(-1)?.push(this.#group());
      else if (token !== '^' && token !== '$' && !/^\\[bB]$/.test(token)) {
        alternatives.at(-1)?.push({ chars: this.#charsOf(token), ...this.#repeat() });
      }
    }
    return alternatives;
  }

  #next(): string | undefined {
    return this.#tokens[this.#at++];
  }

  #group(): PatternItem {
    const [start = ''] = GROUP_START.exec(this.#rest()) ?? [];
    this.#skip(start);
    const alternatives = this.read();
    const chars = alternatives.flat().reduce((all, item) => all | item.chars, 0n);
    const repeat = this.#repeat();
    const isLookaround = /[=!]$/.test(start);
    return isLookaround ? { alternatives, chars: 0n, min: 0, max: 1 } : { alternatives, chars, ...repeat };
  }

  #repeat(): { readonly min: number; readonly max: number } {
    const counted = COUNT.exec(this.#rest());
    const quantifier = counted?.[0] ?? /^[*+?]/.exec(this.#rest())?.[0] ?? '';
    this.#skip(quantifier);
    if (quantifier !== '' && this.#rest().startsWith('?')) this.#skip('?');
    if (counted) {
      const min = Number(counted[1]);
      return { min, max: counted[2] ? Number(counted[3] || Number.POSITIVE_INFINITY) : min };
    }
    const min = quantifier === '' || quantifier === '+' ? 1 : 0;
    return { min, max: quantifier === '' || quantifier === '?' ? 1 : Number.POSITIVE_INFINITY };
  }

  /** Enough of the remaining pattern for a group name or a count. */
  #rest(): string {
    return this.#tokens.slice(this.#at, this.#at + 64).join('');
  }

  #skip(text: string): void {
    for (let length = text.length; length > 0; this.#at += 1)
      length -= this.#tokens[this.#at]?.length ?? length;
  }

  #charsOf(token: string): bigint {
    const known = this.#chars.get(token) ?? matchedChars(token);
    this.#chars.set(token, known);
    return known;
  }
}

function matchedChars(token: string): bigint {
  for (const flags of ['u', '']) {
    try {
      const one = new RegExp(`^(?:${token})$`, flags);
      return SAMPLE_CHARS.reduce((bits, char, at) => (one.test(char) ? bits | (1n << BigInt(at)) : bits), 0n);
    } catch {
      // Some tokens are valid only without the flag.
    }
  }
  return 0n;
}

function hasAmbiguousRepeat(alternatives: readonly (readonly PatternItem[])[]): boolean {
  return alternatives.flat().some((item) => {
    const inner = item.alternatives;
    if (inner === undefined) return false;
    return (item.max >= MANY && isAmbiguous(inner)) || hasAmbiguousRepeat(inner);
  });
}

/** Whether a text can be split among the iterations of a repeated group in more than one way. */
function isAmbiguous(alternatives: readonly (readonly PatternItem[])[]): boolean {
  const bodies = alternatives.flatMap(unwrap);
  return (
    bodies.some(hasUnseparatedRepeat) || bodies.some((body, at) => bodies.slice(at + 1).some(overlaps(body)))
  );
}

/** Unwraps a group that contains only another group. */
function unwrap(body: readonly PatternItem[]): readonly (readonly PatternItem[])[] {
  const [only, ...others] = body;
  const isWrapped = only?.alternatives !== undefined && others.length === 0 && only.max === 1;
  return isWrapped ? (only.alternatives ?? []).flatMap(unwrap) : [body];
}

/** Whether it has an unbounded item that no mandatory item separates from the next unbounded one. */
function hasUnseparatedRepeat(body: readonly PatternItem[]): boolean {
  return body.some((item, at) => {
    if (!isUnbounded(item)) return false;
    // The following items, and then the preceding ones, which come next in the following iteration.
    const others = [...body.slice(at + 1), ...body.slice(0, at)];
    const sharesChars = (other: PatternItem) => (other.chars & item.chars) !== 0n;
    const mandatory = others.findIndex(({ min }) => min > 0);
    const near = mandatory < 0 ? others : others.slice(0, mandatory + 1);
    return (
      near.some((other) => isUnbounded(other) && sharesChars(other)) ||
      others.every((o) => o.min === 0 || sharesChars(o))
    );
  });
}

function isUnbounded({ max, alternatives }: PatternItem): boolean {
  return max >= MANY || (alternatives?.flat().some(isUnbounded) ?? false);
}

/** Whether every item of one alternative shares characters with every item of the other: `a|a`, `\w|\d`, `a|aa`. */
function overlaps(body: readonly PatternItem[]) {
  return (other: readonly PatternItem[]) =>
    body.length > 0 &&
    other.length > 0 &&
    body.every((item) => other.every(({ chars }) => (chars & item.chars) !== 0n));
}
