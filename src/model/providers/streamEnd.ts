import { isObject, parseJson } from '../../base/json.ts';
import { BODIES, type BodyKind, errorIn, type Signs, stopReasonOf, type WireEvent } from './endings.ts';
import { readErrorBody } from './errorBody.ts';

/** How much of a body in an unknown format is kept for its reason. */
const MAX_FOREIGN_CHARS = 20_000;

/** Observes a response before the SDK does, to detect its end, its errors and its format. */
export class StreamEnd {
  readonly #signs: Signs;
  readonly #decoder = new TextDecoder();
  #line = '';
  /** The beginning of the body, until an event is known. */
  #text = '';
  #isKnown = false;
  #hasStopReason = false;
  #isClosed = false;
  #isDone = false;
  /** Known from the first character on that is not white space. */
  kind: BodyKind | undefined;
  /** The first error that was reported before the end. */
  error: WireEvent | undefined;

  constructor(signs: Signs) {
    this.#signs = signs;
  }

  /** What follows an error does not end the reply. */
  get hasEnded(): boolean {
    return this.error === undefined && (this.#hasStopReason || (this.#isDone && !this.isForeign));
  }

  /** The rest of the body does not matter. */
  get isDone(): boolean {
    return this.#isDone || (this.kind === 'page' && this.#text.length >= MAX_FOREIGN_CHARS);
  }

  /** What has arrived is not in the provider's format, and is not the beginning of it. */
  get isForeign(): boolean {
    if (this.#isKnown || this.kind === undefined) return false;
    const lines = this.#text.trim().split(/[\r\n]+/);
    if (this.kind === 'events') return lines.some((line) => isForeignLine(line, this.#signs));
    return this.kind === 'page' || isJson(this.#text) || isJson(lines[0] ?? '');
  }

  /** What a body in an unknown format says. Events of another provider say nothing to the user. */
  get foreignReason(): string {
    const isNoise = /^(data|event):|^\s*[{[]/m.test(this.#text) && !isJson(this.#text);
    return isNoise ? '' : readErrorBody(this.#text).reason;
  }

  push(bytes: Uint8Array): void {
    const text = this.#decoder.decode(bytes, { stream: true });
    if (!this.#isKnown) this.#text = (this.#text + text).slice(0, MAX_FOREIGN_CHARS);
    this.kind ??= BODIES.find(({ first }) => first.test(this.#text.trimStart()))?.kind;
    const lines = text.split(/[\r\n]+/);
    const rest = lines.pop() ?? '';
    for (const line of lines) {
      this.#readLine(this.#line + line);
      this.#line = '';
    }
    this.#line += rest;
  }

  /** Call at the end of the stream. Returns what the SDK needs to emit the last event and the stop reason. */
  end(): string {
    this.#readLine(this.#line);
    this.#line = '';
    if (!this.#hasStopReason) return '';
    const { closing } = this.#signs;
    return closing && !this.#isClosed ? `\n\ndata: ${JSON.stringify(closing)}\n\n` : '\n\n';
  }

  /** Some servers write an error into a stream as a line without `data:`, or with `error:`. */
  #readLine(line: string): void {
    if (/^data:\s*\[DONE\]\s*$/.test(line)) {
      this.#isDone = true;
      return;
    }
    const [, field = '', json = ''] = /^(data:\s*|error:\s*|)(\{.*)$/.exec(line) ?? [];
    const event = json === '' ? undefined : parseJson(json);
    if (!isObject(event)) return;
    this.#readError(field.startsWith('error') ? { error: event } : event);
    if (field.startsWith('data')) this.#readEvent(event);
  }

  #readError(event: WireEvent): void {
    const error = errorIn(event);
    if (!error) return;
    if (!this.hasEnded) this.error ??= error;
    this.#isKnown = true;
  }

  #readEvent(event: WireEvent): void {
    const { isKnown, closing } = this.#signs;
    this.#isKnown ||= isKnown(event);
    this.#hasStopReason ||= stopReasonOf(event, this.#signs) !== undefined;
    this.#isClosed ||= closing !== undefined && event['type'] === closing.type;
  }
}

const FIELDS = ['data:', 'event:', 'id:', 'retry:', ':'];

/** A field that is cut off is not foreign, nor is an event that is not JSON: the SDK reports it. */
function isForeignLine(line: string, { isKnown }: Signs): boolean {
  if (!line.startsWith('data:'))
    return !FIELDS.some((field) => line.startsWith(field) || field.startsWith(line));
  const event = parseJson(line.slice('data:'.length));
  return event !== undefined && !(isObject(event) && (isKnown(event) || errorIn(event)));
}

function isJson(text: string): boolean {
  return parseJson(text) !== undefined;
}
