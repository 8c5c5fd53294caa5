import { messageOf } from '../base/errors.ts';
import { field, isObject, mapStrings } from '../base/json.ts';
import { visibleLine } from '../base/lines.ts';
import { describeSize } from '../base/size.ts';
import type { Spill, SpilledBytes, Spills } from '../ports/results.ts';
import type { ToolName } from '../ports/tools.ts';
import { joined } from './textWindows.ts';

/** The user's own function, which gets the result before anything else does. */
type TransformFunction = (result: unknown, tool: ToolName) => Promise<unknown> | unknown;

/** Calls the user's function somewhere else, with `callTransform`. Ends it when the signal is aborted. */
export type RunTransform = (
  input: TransformInput,
  read: ReadLong,
  signal: AbortSignal,
) => Promise<Returned | undefined>;

export type Transform = TransformFunction | { readonly run: RunTransform };

/** What the function is given, as data that another thread can receive. */
export interface TransformInput {
  /** As the server sent it, with placeholders for long strings. */
  readonly result: unknown;
  readonly tool: ToolName;
  /** The strings behind placeholders. */
  readonly originals: ReadonlyMap<string, string>;
  /** The other placeholders, whose strings are too long. */
  readonly long: ReadonlyMap<string, LongFacts>;
}

interface LongFacts {
  /** In bytes, decoded. */
  readonly size: number;
  readonly mimeType: string | undefined;
}

type ReadLong = (placeholder: string) => Promise<Uint8Array>;

/** What the function returned, as a copy without functions and methods. */
export interface Returned {
  readonly value: unknown;
  /** It is the object that the function was given. */
  readonly isGiven: boolean;
  /** Which items of its list are blocks of the server. They are shown as they are, valid or not. */
  readonly givenItems: readonly number[];
}

interface TransformContext {
  readonly tool: ToolName;
  readonly spills?: Spills | undefined;
  readonly read: (bytes: SpilledBytes) => Promise<Uint8Array>;
  readonly normalize: Normalize;
  readonly timeoutMs?: number | undefined;
}

/** Converts a value as `filechat/content` converts the return value of a tool. */
export type Normalize = (value: unknown) => Promise<{ readonly content: readonly unknown[] }>;

export interface Transformed {
  readonly result: unknown;
  /** Whether `result` comes from the transformer. */
  readonly changed: boolean;
  readonly problem?: string;
}

const TIMEOUT_MS = 10_000;
const MAX_REASON_CHARS = 500;

/** Resolves to the result as the server sent it when the transformer fails or returns nothing. */
export async function applyTransform(
  result: unknown,
  transform: Transform,
  context: TransformContext,
): Promise<Transformed> {
  const { tool, timeoutMs = TIMEOUT_MS } = context;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const end = new AbortController();
  const tooLong = new Promise<never>((_, reject) => {
    timer = setTimeout(() => {
      reject(new Error(`it took longer than ${timeoutMs / 1000} seconds`));
      end.abort();
    }, timeoutMs);
  });
  try {
    const run = typeof transform === 'function' ? runHere(transform) : transform.run;
    const changed = await Promise.race([runTransform(result, run, context, end.signal), tooLong]);
    return { result: changed ?? result, changed: changed !== undefined };
  } catch (error) {
    const reason = visibleLine(messageOf(error).slice(0, MAX_REASON_CHARS)).replace(/\.$/, '');
    const problem = `Your transformer failed on ${tool.server}.${tool.tool}: ${reason}. The result is shown as the server sent it.`;
    return { result, changed: false, problem };
  } finally {
    clearTimeout(timer);
  }
}

/** For all long strings of a result, decoded. The rest is given as objects with `read()`. */
const MAX_GIVEN_BYTES = 64 * 1024 * 1024;
const MAX_RETURNED_BYTES = 128 * 1024 * 1024;

function runHere(transform: TransformFunction): RunTransform {
  return (input, read) => callTransform(transform, input, read);
}

async function runTransform(
  result: unknown,
  run: RunTransform,
  { tool, spills, read, normalize }: TransformContext,
  signal: AbortSignal,
): Promise<object | undefined> {
  const { originals, long } = await readSpills(result, spills, MAX_GIVEN_BYTES);
  const facts = [...long].map(([placeholder, spill]) => [placeholder, factsOf(spill)] as const);
  const input = { result, tool, originals, long: new Map(facts) };
  const returned = await run(input, (placeholder) => readLong(long.get(placeholder), read), signal);
  if (!returned) return undefined;
  const isError = !isWhole(returned) && field(result, 'isError') === true;
  const placeholders = new Map([...originals].map(([placeholder, original]) => [original, placeholder]));
  const changed = await readReturned(returned, normalize);
  const whole = copyValue(changed, { text: (text) => placeholders.get(text) ?? text, bytes: 'refuse' });
  return { ...(isError ? { isError } : {}), ...(whole as object) };
}

/** The strings behind the placeholders in a value, as many as fit into `maxBytes` of decoded bytes, and the other ones. */
export async function readSpills(
  value: unknown,
  spills: Spills | undefined,
  maxBytes: number,
): Promise<{ readonly originals: ReadonlyMap<string, string>; readonly long: ReadonlyMap<string, Spill> }> {
  const long = new Map<string, Spill>();
  mapStrings(value, (text) => {
    const spill = spills?.find(text);
    if (spill) long.set(text, spill);
    return text;
  });
  const originals = new Map<string, string>();
  let left = maxBytes;
  for (const [placeholder, spill] of long) {
    if (spill.kind !== 'bytes' || !spill.pieces || spill.size > left) continue;
    const original = await joined(spill.pieces()).catch(() => undefined);
    if (original === undefined) continue;
    left -= spill.size;
    originals.set(placeholder, original);
    long.delete(placeholder);
  }
  return { originals, long };
}

function factsOf(spill: Spill): LongFacts {
  return { size: spill.size, mimeType: spill.kind === 'bytes' ? spill.mimeType : undefined };
}

async function readLong(spill: Spill | undefined, read: TransformContext['read']): Promise<Uint8Array> {
  if (spill?.kind === 'bytes') return read(spill);
  const size = describeSize(spill?.size ?? 0);
  throw new Error(
    spill?.kind === 'failed'
      ? spill.reason
      : `it has ${size}, more than filechat.results.maxAssetBytes allows`,
  );
}

/** Resolves to undefined if the function returns nothing. */
export async function callTransform(
  transform: TransformFunction,
  { result, tool, originals, long }: TransformInput,
  read: ReadLong,
): Promise<Returned | undefined> {
  const give = (text: string) => {
    const facts = long.get(text);
    return originals.get(text) ?? (facts ? new LongString(text, facts, read) : text);
  };
  // A copy, so that a transformer that changes it and then fails has no effect.
  const given = copyValue(result, { text: give, bytes: 'refuse' });
  const blocks = new Set(listOf(field(given, 'content')));
  const returned = await settled(await transform(given, tool));
  if (returned === undefined || returned === null) return undefined;
  const free = new Set(originals.values());
  const items = Array.isArray(returned) ? returned : listOf(field(returned, 'content'));
  return {
    value: copyWithin(returned, MAX_RETURNED_BYTES, (text) => free.has(text)),
    isGiven: returned === given,
    givenItems: items.flatMap((item, at) => (blocks.has(item) ? [at] : [])),
  };
}

/** A string of the result that is too long to be given as one. As text it is a reference, which becomes the file again. */
class LongString implements LongFacts {
  readonly size: number;
  readonly mimeType: string | undefined;
  readonly read: () => Promise<Uint8Array>;
  readonly #placeholder: string;

  constructor(placeholder: string, { size, mimeType }: LongFacts, read: ReadLong) {
    this.#placeholder = placeholder;
    this.size = size;
    this.mimeType = mimeType;
    this.read = () => read(placeholder);
  }

  toJSON(): string {
    return this.#placeholder;
  }

  toString(): string {
    return this.#placeholder;
  }
}

/** It is easy to forget `await` in a list. */
async function settled(value: unknown): Promise<unknown> {
  if (Array.isArray(value)) return Promise.all(value);
  const content = field(value, 'content');
  return Array.isArray(content) ? { ...(value as object), content: await Promise.all(content) } : value;
}

function copyWithin(value: unknown, maxBytes: number, isFree: (text: string) => boolean): unknown {
  let left = maxBytes;
  const spend = (bytes: number) => {
    left -= bytes;
    if (left < 0) throw new Error(`it returned more than ${describeSize(maxBytes)}`);
  };
  const text = (each: string) => {
    if (!isFree(each)) spend(each.length);
    return each;
  };
  return copyValue(value, { text, spend, bytes: 'keep' });
}

async function readReturned(returned: Returned, normalize: Normalize): Promise<unknown> {
  const { value, givenItems } = returned;
  const readItems = async (items: readonly unknown[]) => {
    const blocks: unknown[] = [];
    const given = new Set(givenItems);
    // Sequential, so that only one large file at a time is in memory beside its base64.
    for (const [at, item] of items.entries()) {
      if (isBlock(item) || given.has(at)) blocks.push(item);
      else blocks.push(...(await normalizeValue(item, normalize)).content);
    }
    return blocks;
  };
  if (isWhole(returned)) {
    const content = field(value, 'content');
    return Array.isArray(content) ? { ...(value as object), content: await readItems(content) } : value;
  }
  if (isBlock(value)) return { content: [value] };
  if (Array.isArray(value) && value.some(isBlock)) return { content: await readItems(value) };
  return normalizeValue(value, normalize);
}

/** A path may come from the server, so it is never followed. */
function normalizeValue(value: unknown, normalize: Normalize): ReturnType<Normalize> {
  if (listOf(value).some((each) => field(each, 'type') === 'file' && field(each, 'path') !== undefined))
    throw new Error('it returned the path of a file. Return the bytes of the file instead');
  return normalize(value);
}

function isWhole({ value, isGiven }: Returned): boolean {
  if (!isObject(value)) return false;
  return isGiven || Array.isArray(value['content']) || isObject(value['structuredContent']);
}

/** The fields that make an object a block of MCP if they hold something else than bytes. */
const BLOCK_FIELDS: ReadonlyMap<unknown, string> = new Map([
  ['text', 'text'],
  ['image', 'data'],
  ['audio', 'data'],
  ['resource', 'resource'],
  ['resource_link', 'uri'],
]);

function isBlock(value: unknown): boolean {
  const key = BLOCK_FIELDS.get(field(value, 'type'));
  const content = key === undefined ? undefined : field(value, key);
  const data = key === 'resource' ? (field(content, 'blob') ?? content) : content;
  return data !== undefined && !ArrayBuffer.isView(data) && !(data instanceof ArrayBuffer);
}

function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [value];
}

interface CopyOptions {
  /** Replaces each string, keys included. */
  readonly text: (text: string) => unknown;
  /** Called before anything is copied, with the bytes of memory that it needs at least. May throw. */
  readonly spend?: (bytes: number) => void;
  readonly bytes: 'keep' | 'refuse';
}

/** Far below the depth that would overflow the stack. */
const MAX_DEPTH = 1000;
/** The memory of an object, roughly. */
const OBJECT_BYTES = 16;

/** A copy as JSON would hold it, but with bytes in it. Takes any value, and throws for one that JSON cannot hold. */
function copyValue(value: unknown, { text, spend = () => {}, bytes }: CopyOptions): unknown {
  const ancestors = new Set<object>();
  const copyObject = (owner: object): unknown => {
    if (ancestors.has(owner)) throw new Error('the result contains itself');
    if (ancestors.size > MAX_DEPTH) throw new Error('the result is nested too deeply');
    spend(OBJECT_BYTES * (Array.isArray(owner) ? owner.length : 1));
    ancestors.add(owner);
    const copied = copyFields(owner);
    ancestors.delete(owner);
    return copied;
  };
  const copyFields = (owner: object): unknown => {
    if ('toJSON' in owner && typeof owner.toJSON === 'function') return copy(owner.toJSON());
    if (Array.isArray(owner)) return owner.map(copy);
    return Object.fromEntries(Object.entries(owner).map(([key, each]) => [String(text(key)), copy(each)]));
  };
  const copy = (each: unknown): unknown => {
    if (typeof each === 'string') return text(each);
    if (typeof each === 'bigint') throw new Error('the result has a bigint, which JSON cannot represent');
    if (typeof each === 'function' || typeof each === 'symbol') return undefined;
    if (typeof each !== 'object' || each === null || each instanceof Error) return each;
    if (!isBinary(each)) return copyObject(each);
    if (bytes === 'refuse') throw new Error(BYTES_AMONG_DATA);
    spend('byteLength' in each ? each.byteLength : each.size);
    return each;
  };
  return copy(value);
}

const BYTES_AMONG_DATA =
  'there are bytes among other data. Return them as a Buffer of their own, or as base64';

function isBinary(value: object): value is ArrayBufferView | ArrayBuffer | Blob {
  return ArrayBuffer.isView(value) || value instanceof ArrayBuffer || value instanceof Blob;
}
