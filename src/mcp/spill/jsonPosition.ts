/** The position of a reader in a JSON-RPC message: enough to tell keys from values, and the fields of the message. */
export class JsonPosition {
  /** For each open bracket up to MAX_DEPTH, true when it opens an array. */
  readonly #arrays: boolean[] = [];
  /** For each of them, how many commas follow it so far. */
  readonly #commas: number[] = [];
  #depth = 0;
  #values = 0;
  #valuesOutsideResults = 0;
  /** One for each hash that a key had; made for the first key. */
  #seenKeys: Uint8Array | undefined;
  #keys = 0;
  /** Random, so that a server cannot choose keys with equal hashes. */
  readonly #seed = Math.trunc(Math.random() * 2 ** 32);
  #hash = this.#seed;
  /** 1, or 2 in a batch. */
  #messageDepth = 1;
  #hasMethod = false;
  #afterColon = false;
  /** The last key of the message itself. */
  #section = '';
  #id = '';
  readonly #onMessageEnd: (id: number | undefined) => void;

  constructor(onMessageEnd: (id: number | undefined) => void) {
    this.#onMessageEnd = onMessageEnd;
  }

  /** The id, once it is complete. The SDK uses numbers, and reads strings of digits as numbers. */
  get id(): number | undefined {
    if (this.#id === '' || (this.#section === 'id' && this.#depth === this.#messageDepth)) return undefined;
    const id = Number(this.#id);
    return Number.isInteger(id) ? id : undefined;
  }

  /** How many values of the message have begun, roughly. Those that take long to read count as `SLOW_VALUES`. */
  get values(): number {
    return this.#values;
  }

  /** Those of requests, notifications, errors and of a batch itself. */
  get valuesOutsideResults(): number {
    return this.#valuesOutsideResults;
  }

  /** A request or a notification, and not the response to a request. */
  get isFromServer(): boolean {
    return this.#hasMethod && this.#messageDepth === 1;
  }

  /** How many different keys have ended, roughly, and at most 65,536. */
  get keys(): number {
    return this.#keys;
  }

  get isInResult(): boolean {
    return this.#section === 'result';
  }

  /** True if a string that begins here is a value inside a result. Only results are spilled. */
  get isResultValue(): boolean {
    if (!this.isInResult || this.#depth > MAX_DEPTH) return false;
    return this.#afterColon || this.#arrays[this.#depth - 1] === true;
  }

  /** True if a string that begins here is a key of the message, or its id; takeText() needs it. */
  get needsText(): boolean {
    return this.#depth === this.#messageDepth && (!this.#afterColon || this.#section === 'id');
  }

  /** True if a string that begins here is a key; takeKey() and endKey() count it. */
  get isKey(): boolean {
    return !this.#afterColon && this.#arrays[this.#depth - 1] !== true;
  }

  reset(): void {
    this.#depth = 0;
    this.#values = 0;
    this.#valuesOutsideResults = 0;
    this.#hasMethod = false;
    this.#seenKeys?.fill(0);
    this.#keys = 0;
    this.#hash = this.#seed;
    this.#messageDepth = 1;
    this.#beginMessage();
  }

  /** Moves past the quote that opens the next string, or to the end. */
  moveToString(bytes: Buffer, from: number): { readonly at: number; readonly opened: boolean } {
    const { length } = bytes;
    let isId = this.#isInId;
    for (let at = from; at < length; at++) {
      const byte = bytes[at] as number;
      // Most bytes are parts of numbers and words, which only matter in an id.
      if (!isId && IS_PASSED[byte] === 1) continue;
      if (byte === 0x22) return { at: at + 1, opened: true };
      this.#move(byte);
      if (isId || byte === 0x3a) isId = this.#isInId;
    }
    return { at: length, opened: false };
  }

  /** Bytes of a key. */
  takeKey(bytes: Buffer, from: number, end: number): void {
    let hash = this.#hash;
    for (let at = from; at < end; at++) hash = Math.imul(hash ^ (bytes[at] as number), HASH_PRIME);
    this.#hash = hash;
  }

  endKey(): void {
    this.#seenKeys ??= new Uint8Array(KEY_HASHES);
    const slot = (this.#hash ^ (this.#hash >>> 16)) & (KEY_HASHES - 1);
    if (this.#seenKeys[slot] === 0) this.#keys++;
    this.#seenKeys[slot] = 1;
    this.#hash = this.#seed;
  }

  takeText(text: string): void {
    if (this.#afterColon) {
      this.#id = text;
    } else {
      this.#section = text;
      if (text === 'id') this.#id = '';
      this.#hasMethod ||= text === 'method';
    }
  }

  /** True after the colon of an id. */
  get #isInId(): boolean {
    return this.#afterColon && this.needsText;
  }

  #move(byte: number): void {
    if (byte === 0x2c) {
      this.#countItem();
      this.#afterColon = false;
      if (this.#depth === this.#messageDepth) this.#section = '';
    } else if (byte === 0x3a) {
      this.#afterColon = true;
    } else if (byte === 0x7b || byte === 0x5b) {
      this.#open(byte === 0x5b);
    } else if (byte === 0x7d || byte === 0x5d) {
      this.#close();
    } else if (byte > 0x20 && this.#isInId && this.#id.length < MAX_ID_CHARS) {
      this.#id += String.fromCharCode(byte);
    }
  }

  #countItem(): void {
    const at = this.#depth - 1;
    const isInArray = this.#arrays[at] === true;
    const commas = (this.#commas[at] ?? 0) + 1;
    if (at < MAX_DEPTH) this.#commas[at] = commas;
    const isBlock = isInArray && this.#depth === this.#messageDepth + 2;
    const fewKeys = this.isInResult ? FEW_KEYS : FEW_VALIDATED_KEYS;
    this.#count(isBlock || (!isInArray && commas > fewKeys) ? SLOW_VALUES : 1);
  }

  #count(values: number): void {
    this.#values += values;
    if (!this.isInResult) this.#valuesOutsideResults += values;
  }

  #open(isArray: boolean): void {
    if (this.#depth === 0 && isArray) this.#messageDepth = 2;
    if (this.#depth < MAX_DEPTH) {
      this.#arrays[this.#depth] = isArray;
      this.#commas[this.#depth] = 0;
    }
    this.#depth++;
    this.#count(this.#depth > FEW_LEVELS ? DEEP_VALUES : 1);
    this.#afterColon = false;
    if (this.#depth === this.#messageDepth) this.#beginMessage();
  }

  #close(): void {
    this.#afterColon = false;
    if (this.#depth === this.#messageDepth) {
      this.#section = '';
      this.#onMessageEnd(this.id);
    }
    if (this.#depth > 0) this.#depth--;
  }

  #beginMessage(): void {
    this.#afterColon = false;
    this.#section = '';
    this.#id = '';
  }
}

const IS_PASSED = new Uint8Array(256).fill(1);
for (const byte of Buffer.from(',:{}[]"')) IS_PASSED[byte] = 0;
/** Of FNV-1a. */
const HASH_PRIME = 0x01000193;
const KEY_HASHES = 65_536;
const MAX_DEPTH = 500;
/** A block of a result, and a key of an object with more keys than this, take about ten times as long as other values. */
const FEW_KEYS = 1000;
/** Deeper values take several times as much memory as those side by side, and no list or result needs them. */
const FEW_LEVELS = 64;
const DEEP_VALUES = 5;
/** The SDK validates what is not in a result. */
const FEW_VALIDATED_KEYS = 100;
const SLOW_VALUES = 10;
const MAX_ID_CHARS = 40;
