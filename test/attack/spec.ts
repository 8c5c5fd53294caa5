/** Cases of an attack. They are JSON, and stay short on disk: what is huge is written as a rule for making it. */

/** JSON in which some objects stand for something large or invalid. */
export type Spec = null | boolean | number | string | readonly Spec[] | { readonly [key: string]: Spec };

export const KINDS = ['stdio', 'http', 'sse', 'model', 'chat', 'config', 'tree'] as const;
export type Kind = (typeof KINDS)[number];

/** How the bytes of a message are sent. */
export interface Delivery {
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string>>;
  /** The bytes of a piece; without it, all at once. */
  readonly piece?: number;
  /** Ends the connection after this many bytes. */
  readonly cut?: number;
  readonly gzip?: boolean;
  /** Instead of everything else: a few KB that become hundreds of MB. */
  readonly bomb?: boolean;
  /** Sent before the message, as it is. */
  readonly before?: Spec;
  readonly after?: Spec;
  readonly silent?: boolean;
  readonly crash?: boolean;
}

export interface Answer {
  /** Members of the message besides `jsonrpc` and `id`. */
  readonly message: Spec;
  readonly as?: Delivery;
  /** Over HTTP, as an event stream. */
  readonly stream?: boolean;
  /** Requests and notifications that come first. */
  readonly first?: readonly Spec[];
}

export interface Case {
  readonly kind: Kind;
  /** Files in the folder of the chat; an object with `$link` is a symbolic link, one with `$folder` a folder. */
  readonly files: Readonly<Record<string, Spec>>;
  /** The answers of the MCP server, by method. */
  readonly answers: Readonly<Record<string, Answer>>;
  /** The event that names the address for messages, over SSE. */
  readonly endpoint?: string;
  /** The replies of the model, in order; afterwards it says “Done.”. */
  readonly replies: readonly { readonly events: readonly Spec[]; readonly as?: Delivery }[];
  /** The arguments of the command line, or a probe of what the editor computes. */
  readonly command: readonly string[] | 'probe';
  /** By the bundle, in a process of its own. */
  readonly built?: boolean;
}

export const CHAT = 'a.chat.md';
/** What the user wrote, which is there after everything. */
export const USER_TEXT = 'My own words.';
/** In files outside the folder of the chat, and in the keys of other providers. */
export const SECRET = 'SECRET-9f3b';

/** What a placeholder such as `{CANARY}` stands for. */
export type Places = Readonly<Record<string, string>>;

export function fill(text: string, places: Places): string {
  return text.replace(/\{([A-Z]+)\}/g, (whole, name: string) => places[name] ?? whole);
}

/** As JSON. Written by hand, because no `stringify` goes deep enough. */
export function write(spec: Spec | undefined, places: Places): string {
  if (typeof spec === 'string') return JSON.stringify(fill(spec, places));
  if (spec === null || spec === undefined || typeof spec !== 'object') return JSON.stringify(spec ?? null);
  if (isList(spec)) return `[${spec.map((each) => write(each, places)).join()}]`;
  const rule = ruleOf(spec);
  if (rule !== undefined) return RULES[rule]?.(spec[rule] as never, places) ?? '';
  const members = Object.entries(spec).map(([key, value]) => `${write(key, places)}:${write(value, places)}`);
  return `{${members.join()}}`;
}

/** The rule that an object stands for. */
export function ruleOf(spec: Spec): string | undefined {
  if (typeof spec !== 'object' || spec === null) return undefined;
  return Object.keys(spec).find((key) => Object.hasOwn(RULES, key));
}

/** As text: a string is itself. */
export function toText(spec: Spec | undefined, places: Places): string {
  if (typeof spec === 'string') return fill(spec, places);
  const written = write(spec, places);
  if (!written.startsWith('"')) return written;
  return JSON.parse(written) as string;
}

const RULES: Readonly<Record<string, (value: never, places: Places) => string>> = {
  /** `[text, times]` */
  $repeat: ([text, times]: [string, number], places) => JSON.stringify(fill(text, places).repeat(times)),
  /** `[value, times]`; `{AT}` is the place. */
  $many: (many: [Spec, number], places) => `[${writeMany(many, places).join()}]`,
  /** `[value, times]`, as the members k0, k1, … of an object. */
  $members: (many: [Spec, number], places) =>
    `{${writeMany(many, places)
      .map((each, at) => `"k${at}":${each}`)
      .join()}}`,
  /** `[before, inner, after, times]`: JSON around JSON. */
  $deep: ([before, inner, after, times]: [string, Spec, string, number], places) =>
    before.repeat(times) + write(inner, places) + after.repeat(times),
  /** JSON as it is, such as `1e999`. */
  $raw: (text: string, places) => fill(text, places),
  $join: (texts: readonly Spec[], places) =>
    JSON.stringify(texts.map((each) => toText(each, places)).join('')),
};

/** `JSON.parse` takes up to 50 ms for each MB of structure, and a message is parsed at once. */
const MAX_CHARS = 2_000_000;

function writeMany([value, times]: readonly [Spec, number], places: Places): readonly string[] {
  const all: string[] = [];
  let chars = 0;
  for (let at = 0; at < times && chars < MAX_CHARS; at += 1) {
    const each = write(value, { ...places, AT: String(at) });
    chars += each.length;
    all.push(each);
  }
  return all;
}

export function isList(spec: Spec): spec is readonly Spec[] {
  return Array.isArray(spec);
}
