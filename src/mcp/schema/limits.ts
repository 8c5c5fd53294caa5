import { isObject } from '../../base/json2.ts';
import { canExplode } from './explosivePattern.ts';
import { placeUnder, type SchemaPlace } from './schemaKeywords.ts';

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
  const found = new Findings();
  const waiting: Waiting[] = [{ value: schema, depth: 1, place: 'schema' }];
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
    if (chars > MAX_CHARS) return `is larger than ${MAX_CHARS / 1024} KB`;
  }
  return found.problem();
}

interface Waiting {
  readonly value: unknown;
  readonly depth: number;
  readonly place: SchemaPlace;
}

/** What the keywords say that has to be judged together. */
class Findings {
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
    const slow = [...this.#patterns].find(canExplode);
    return slow === undefined ? undefined : `has the pattern ${quote(slow)}, which can take for ever`;
  }
}

function withoutFragment(address: string): string {
  return address.split('#', 1)[0] ?? '';
}

function quote(text: string): string {
  return JSON.stringify(text.length > 100 ? `${text.slice(0, 100)}…` : text);
}
