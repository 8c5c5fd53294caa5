export interface CopyOptions {
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
export function copyValue(value: unknown, { text, spend = () => {}, bytes }: CopyOptions): unknown {
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
    if (typeof each === 'bigint') throw new Error('the result has a bigint, which JSON cannot hold');
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
