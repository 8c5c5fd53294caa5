import { field, fieldsOf, isObject, listOf, textOf } from '../../base/json.ts';

/*
 * Events that servers write in another way than their protocol says. The SDK would lose what is in them, or the whole
 * reply. An event that needs no repair is returned as it is.
 */

/** One event of a stream, or a whole response in JSON. */
export type WireEvent = Readonly<Record<string, unknown>>;

/** The first object of a list, or an empty one. */
export function firstOf(list: unknown): WireEvent {
  return fieldsOf(listOf(list)[0]);
}

/** Repairs the events of one stream. Called without an event before `[DONE]`, for what is still held back. */
export type Repair = (event?: WireEvent) => readonly WireEvent[];

/** Text at the start of its block, and events without usage figures. */
export function repairAnthropic(event: WireEvent): readonly WireEvent[] {
  const { type, message, content_block: block, index } = event;
  if (type === 'message_start' && isObject(message) && !isObject(message['usage'])) {
    return [{ ...event, message: { ...message, usage: { input_tokens: 0, output_tokens: 0 } } }];
  }
  if (type === 'message_delta' && !isObject(event['usage'])) {
    return [{ ...event, usage: { output_tokens: 0 } }];
  }
  if (type !== 'content_block_start' || !isObject(block)) return [event];
  for (const [kind, delta] of BLOCK_TEXTS) {
    const text = block[kind];
    if (block['type'] !== kind || typeof text !== 'string' || text === '') continue;
    const empty = { ...event, content_block: { ...block, [kind]: '' } };
    return [empty, { type: 'content_block_delta', index, delta: { type: delta, [kind]: text } }];
  }
  return [event];
}

const BLOCK_TEXTS = [
  ['text', 'text_delta'],
  ['thinking', 'thinking_delta'],
] as const;

/**
 * Items without the deltas that should come before them, or that are only in the last event, and images that were not
 * made.
 */
export function responsesRepair(): Repair {
  const seen = new Set<string>();
  return (event) => (event ? repairResponses(event, seen) : []);
}

function repairResponses(event: WireEvent, seen: Set<string>): readonly WireEvent[] {
  const { type, item: given, output_index: index, response } = event;
  if (type === undefined && Array.isArray(event['output'])) {
    return [{ ...event, output: event['output'].map(repairItem) }];
  }
  const item = repairItem(given);
  if (item !== given) return repairResponses({ ...event, item }, seen);
  if (type === 'response.output_text.delta') seen.add(`text ${event['item_id']}`).add(ANY_ITEM);
  if (type === 'response.output_item.done' && isObject(item)) {
    seen.add(ANY_ITEM);
    const delta = wordsOf(item);
    if (item['type'] !== 'message' || delta === '' || seen.has(`text ${item['id']}`)) return [event];
    const place = { item_id: item['id'], output_index: index, content_index: 0 };
    return [{ type: 'response.output_text.delta', ...place, delta }, event];
  }
  if (type !== 'response.completed' || seen.has(ANY_ITEM) || !isObject(response)) return [event];
  const { output } = response;
  const items = listOf(output).filter(isObject);
  return [
    ...items.flatMap((each, at) => [
      { type: 'response.output_item.added', output_index: at, item: each },
      ...repairResponses({ type: 'response.output_item.done', output_index: at, item: each }, seen),
    ]),
    event,
  ];
}

const ANY_ITEM = 'any item';

/** The SDK expects the bytes of an image in its result. */
function repairItem(item: unknown): unknown {
  const isUnmade =
    isObject(item) && item['type'] === 'image_generation_call' && typeof item['result'] !== 'string';
  return isUnmade ? { ...item, result: '' } : item;
}

function wordsOf({ content }: WireEvent): string {
  return listOf(content)
    .map((part) => textOf(field(part, 'text')))
    .join('');
}

/** `"error": null`, other choices, other types of usage figures, the text of a completion, and calls (`callsIn`). */
export function chatRepair(): Repair {
  const names = new CallNames();
  return (event) => {
    if (event) return [repairChat(event, names)];
    const held = names.take();
    return held.length === 0 ? [] : [{ choices: [{ index: 0, delta: { tool_calls: held } }] }];
  };
}

function repairChat(event: WireEvent, names: CallNames): WireEvent {
  const { choices, error, usage, ...rest } = event;
  const list = listOf(choices);
  const repaired = list.filter(isFirst).map((choice) => repairChoice(choice, names));
  const isSame = repaired.length === list.length && repaired.every((each, at) => each === list[at]);
  const isCounted = !isObject(usage) || COUNTS.every((name) => isCount(usage[name]));
  if (isSame && isCounted && error !== null) return event;
  return {
    ...rest,
    ...(isCounted && usage !== undefined ? { usage } : {}),
    ...(error == null ? {} : { error }),
    ...(choices === undefined ? {} : { choices: repaired }),
  };
}

const COUNTS = ['prompt_tokens', 'completion_tokens', 'total_tokens'];

function isCount(value: unknown): boolean {
  return value == null || typeof value === 'number';
}

function isFirst(choice: unknown): boolean {
  const index = isObject(choice) ? choice['index'] : undefined;
  return index === undefined || index === null || index === 0;
}

function repairChoice(choice: unknown, names: CallNames): unknown {
  if (!isObject(choice)) return choice;
  const { text, delta, message, finish_reason: reason } = choice;
  if (typeof text === 'string' && delta == null && message == null) {
    return { ...choice, delta: { content: text } };
  }
  if (!isObject(delta) && isObject(message)) {
    const calls = callsIn(message);
    return calls.length === 0 ? choice : { ...choice, message: { ...message, tool_calls: calls } };
  }
  const said = isObject(delta) ? withReasoning(delta) : {};
  const calls = callsIn(said);
  const isEnd = typeof reason === 'string' && reason !== '';
  const whole = [...calls.flatMap((call) => names.push(call)), ...(isEnd ? names.take() : [])];
  if (calls.length + whole.length > 0) return { ...choice, delta: { ...said, tool_calls: whole } };
  return said === delta || !isObject(delta) ? choice : { ...choice, delta: said };
}

/** Ollama’s own name for it. */
function withReasoning(delta: WireEvent): WireEvent {
  const { thinking } = delta;
  const isLost =
    typeof thinking === 'string' && delta['reasoning_content'] == null && delta['reasoning'] == null;
  return isLost ? { ...delta, reasoning_content: thinking } : delta;
}

/** Also the one call of the older protocol, calls without their inner object, and values that are not strings. */
function callsIn({ tool_calls: calls, function_call: older }: WireEvent): readonly WireEvent[] {
  const list = listOf(calls);
  const given = list.length === 0 && isObject(older) ? [{ index: 0, function: older }] : list;
  return given.filter(isObject).map(({ index, id, ...call }) => {
    const { function: called = call } = call;
    const { arguments: input, ...rest } = fieldsOf(called);
    const isText = input === undefined || input === null || typeof input === 'string';
    return {
      ...call,
      ...(index != null && { index: Number(index) }),
      ...(id != null && { id: String(id) }),
      function: {
        ...rest,
        ...(input !== undefined && { arguments: isText ? input : JSON.stringify(input) }),
      },
    };
  });
}

/** Holds a call back until its arguments begin, because its name may arrive in pieces. */
class CallNames {
  #held: WireEvent | undefined;
  /** The indexes of the calls that have begun: what follows may have no name. */
  readonly #begun = new Set<unknown>();

  push(call: WireEvent): readonly WireEvent[] {
    const held = this.#held;
    const isSame = held !== undefined && held['index'] === call['index'] && hasSameId(held, call);
    const before = isSame ? [] : this.take();
    const joined = isSame ? joinCalls(held, call) : call;
    const { index } = call;
    const isNew = nameOf(call) !== '' || !this.#begun.has(index);
    const isOpen = typeof index === 'number' && isNew && argumentsOf(joined) === '';
    this.#held = isOpen || (isSame && argumentsOf(joined) === '') ? joined : undefined;
    if (this.#held) return before;
    const isUnnamed = nameOf(joined) === '' && !this.#begun.has(index);
    this.#begun.add(index);
    return [...before, isUnnamed ? withName(joined) : joined];
  }

  take(): readonly WireEvent[] {
    const held = this.#held;
    this.#held = undefined;
    return held ? [held] : [];
  }
}

/** Only the first piece of a call needs an id. */
function hasSameId({ id: held }: WireEvent, { id }: WireEvent): boolean {
  return !id || !held || id === held;
}

/** Some servers repeat the whole name, or what there is of it so far. */
function joinCalls(held: WireEvent, call: WireEvent): WireEvent {
  const [before, piece] = [nameOf(held), nameOf(call)];
  const name = piece.startsWith(before) ? piece : before + piece;
  return { ...call, ...held, function: { name, arguments: argumentsOf(call) } };
}

/** The SDK drops a call without a name, and the model would not learn that nothing was called. */
function withName(call: WireEvent): WireEvent {
  return { ...call, function: { ...fieldsOf(call['function']), name: 'unnamed' } };
}

function nameOf(call: WireEvent): string {
  return textOf(field(call['function'], 'name'));
}

function argumentsOf(call: WireEvent): string {
  return textOf(field(call['function'], 'arguments'));
}
