import { isObject } from '../../base/json.ts';
import { describeSize } from '../../base/size.ts';
import { placeUnder, type SchemaPlace } from './schema.ts';

const MAX_DEPTH = 64;
const MAX_NODES = 10_000;
const MAX_CHARS = 256 * 1024;
/** About what braces, quotes and commas add to each value. */
const CHARS_PER_NODE = 2;
const REFERENCES = ['$ref', '$dynamicRef', '$recursiveRef'] as const;

/**
 * Why a schema must not be used, as the end of a sentence; nothing when it may. Only what is dangerous counts:
 * keywords and dialects that nobody knows are left to whoever reads them. Looks at no more than it allows, and
 * asks the network nothing.
 */
export function schemaProblem(schema: unknown): string | undefined {
  const found = new SchemaFindings();
  const waiting: PendingNode[] = [{ value: schema, depth: 1, place: 'schema' }];
  let nodes = 0;
  let chars = 0;
  // A list instead of recursion, so that no depth is too deep.
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    const { value, depth, place } = next;
    nodes += 1;
    chars += CHARS_PER_NODE + (typeof value === 'string' ? value.length : 0);
    if (typeof value === 'object' && value !== null) {
      if (depth > MAX_DEPTH) return `is nested more than ${MAX_DEPTH} levels deep`;
      // Before anything of it is looked at, because there may be millions.
      const size = Array.isArray(value) ? value.length : Object.keys(value).length;
      if (nodes + waiting.length + size > MAX_NODES) return `has more than ${MAX_NODES} values`;
      if (place === 'schema' && isObject(value)) found.look(value);
      for (const [key, each] of Object.entries(value)) {
        chars += key.length;
        const under = Array.isArray(value) ? place : placeUnder(place, key);
        waiting.push({ value: each, depth: depth + 1, place: under });
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

/** What the keywords say that has to be judged together. */
class SchemaFindings {
  readonly #ids = new Set<string>();
  readonly #references = new Set<string>();
  readonly #patterns = new Set<string>();

  look(keywords: Readonly<Record<string, unknown>>): void {
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
    // A schema may hold others under names of their own; a reference to one of those leads nowhere else.
    const isRemote = (each: string) => !each.startsWith('#') && !this.#ids.has(withoutFragment(each));
    const remote = [...this.#references].find(isRemote);
    if (remote !== undefined) return `refers to ${quote(remote)}, and nothing is fetched`;
    const slow = [...this.#patterns].find(canBacktrackCatastrophically);
    return slow === undefined ? undefined : `has the pattern ${quote(slow)}, which can take for ever`;
  }
}

function withoutFragment(address: string): string {
  return address.split('#', 1)[0] ?? '';
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}

/** No pattern that anyone wrote by hand is longer. */
const MAX_PATTERN_CHARS = 4000;
/** From here on a repeat counts as one without an end. */
const MANY = 10;

/**
 * True when a repeated group can match one text in very many ways, as in `^(a+)+$`: then a text that does not
 * match in the end takes longer than anyone can wait. Unlike `isSafePattern` this finds the sure cases only, so
 * that what stands in ordinary schemas, such as a pattern for e-mail addresses, passes.
 */
export function canBacktrackCatastrophically(pattern: string): boolean {
  return pattern.length > MAX_PATTERN_CHARS || hasAmbiguousRepeat(new PatternReader(pattern).read());
}

/** The texts that a part of a pattern can be: which signs, how often, and in which order. */
interface PatternItem {
  /** A bit for each sign of `SIGNS` that can occur in it. */
  readonly chars: bigint;
  readonly min: number;
  readonly max: number;
  /** Those of a group. */
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

/** Reads what is needed of a regular expression; one that is not valid gives something, too. */
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
    const signs = alternatives.flat().reduce((all, item) => all | item.chars, 0n);
    const repeat = this.#repeat();
    // What only looks ahead or back takes no sign.
    const looks = /[=!]$/.test(start);
    return looks ? { alternatives, chars: 0n, min: 0, max: 1 } : { alternatives, chars: signs, ...repeat };
  }

  #repeat(): { readonly min: number; readonly max: number } {
    const counted = COUNT.exec(this.#rest());
    const sign = counted?.[0] ?? /^[*+?]/.exec(this.#rest())?.[0] ?? '';
    this.#skip(sign);
    if (sign !== '' && this.#rest().startsWith('?')) this.#skip('?');
    if (counted) {
      const min = Number(counted[1]);
      return { min, max: counted[2] ? Number(counted[3] || Number.POSITIVE_INFINITY) : min };
    }
    const min = sign === '' || sign === '+' ? 1 : 0;
    return { min, max: sign === '' || sign === '?' ? 1 : Number.POSITIVE_INFINITY };
  }

  /** Enough of what follows for a name or a count. */
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
      return SAMPLE_CHARS.reduce((bits, sign, at) => (one.test(sign) ? bits | (1n << BigInt(at)) : bits), 0n);
    } catch {
      // Some are valid only without the flag.
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

/** Whether the same text can be divided in more than one way among the rounds of a repeated group. */
function isAmbiguous(alternatives: readonly (readonly PatternItem[])[]): boolean {
  const bodies = alternatives.flatMap(unwrap);
  return bodies.some(isUndivided) || bodies.some((body, at) => bodies.slice(at + 1).some(isLike(body)));
}

/** A group that is nothing but another group, once, is that other group. */
function unwrap(body: readonly PatternItem[]): readonly (readonly PatternItem[])[] {
  const [only, ...others] = body;
  const isWrapped = only?.alternatives !== undefined && others.length === 0 && only.max === 1;
  return isWrapped ? (only.alternatives ?? []).flatMap(unwrap) : [body];
}

/** Something of any length is in it, and nothing that must come divides it from the next such thing. */
function isUndivided(body: readonly PatternItem[]): boolean {
  return body.some((item, at) => {
    if (!isOpen(item)) return false;
    // What follows, and after the end of the body what comes before, in the next round.
    const others = [...body.slice(at + 1), ...body.slice(0, at)];
    const meets = (other: PatternItem) => (other.chars & item.chars) !== 0n;
    const mandatory = others.findIndex(({ min }) => min > 0);
    const near = mandatory < 0 ? others : others.slice(0, mandatory + 1);
    return (
      near.some((other) => isOpen(other) && meets(other)) || others.every((o) => o.min === 0 || meets(o))
    );
  });
}

function isOpen({ max, alternatives }: PatternItem): boolean {
  return max >= MANY || (alternatives?.flat().some(isOpen) ?? false);
}

/** Two alternatives of which every part can be every part of the other: `a|a`, `\w|\d`, `a|aa`. */
function isLike(body: readonly PatternItem[]) {
  return (other: readonly PatternItem[]) =>
    body.length > 0 &&
    other.length > 0 &&
    body.every((item) => other.every(({ chars: signs }) => (signs & item.chars) !== 0n));
}
