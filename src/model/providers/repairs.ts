import { isObject } from '../../base/json.ts';

/*
 * Events that servers write in another way than their protocol says. The SDK would lose what is in them, or the whole
 * reply. An event that needs no repair is returned as it is.
 */

/** One event of a stream, or a whole response in JSON. */
export type WireEvent = Readonly<Record<string, unknown>>;

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

/** Items without the deltas that should come before them, or that are only in the last event. */
export function repairResponses(event: WireEvent, seen: Set<string>): readonly WireEvent[] {
  const { type, item, output_index: index, response } = event;
  if (type === 'response.output_text.delta') seen.add(`text ${event['item_id']}`).add(ANY_ITEM);
  if (type === 'response.output_item.done' && isObject(item)) {
    seen.add(ANY_ITEM);
    const delta = textOf(item);
    if (item['type'] !== 'message' || delta === '' || seen.has(`text ${item['id']}`)) return [event];
    const place = { item_id: item['id'], output_index: index, content_index: 0 };
    return [{ type: 'response.output_text.delta', ...place, delta }, event];
  }
  if (type !== 'response.completed' || seen.has(ANY_ITEM) || !isObject(response)) return [event];
  const { output } = response;
  const items = Array.isArray(output) ? output.filter(isObject) : [];
  return [
    ...items.flatMap((each, at) => [
      { type: 'response.output_item.added', output_index: at, item: each },
      ...repairResponses({ type: 'response.output_item.done', output_index: at, item: each }, seen),
    ]),
    event,
  ];
}

const ANY_ITEM = 'any item';

function textOf({ content }: WireEvent): string {
  const parts: readonly unknown[] = Array.isArray(content) ? content : [];
  return parts
    .map((part) => (isObject(part) && typeof part['text'] === 'string' ? part['text'] : ''))
    .join('');
}

/** `"error": null`, other choices, the text of a completion, and arguments that are not a string. */
export function repairChat(event: WireEvent): WireEvent {
  const { choices, error, ...rest } = event;
  const list: readonly unknown[] = Array.isArray(choices) ? choices : [];
  const repaired = list.filter(isFirst).map(repairChoice);
  const isSame = repaired.length === list.length && repaired.every((each, at) => each === list[at]);
  if (isSame && error !== null) return event;
  return {
    ...rest,
    ...(error == null ? {} : { error }),
    ...(choices === undefined ? {} : { choices: repaired }),
  };
}

function isFirst(choice: unknown): boolean {
  const index = isObject(choice) ? choice['index'] : undefined;
  return index === undefined || index === null || index === 0;
}

function repairChoice(choice: unknown): unknown {
  if (!isObject(choice)) return choice;
  const { text, delta, message } = choice;
  if (typeof text === 'string' && delta == null && message == null) {
    return { ...choice, delta: { content: text } };
  }
  const [name, said] = isObject(delta) ? ['delta', delta] : ['message', message];
  const calls = isObject(said) ? said['tool_calls'] : undefined;
  if (!Array.isArray(calls) || !calls.some(hasObject)) return choice;
  return { ...choice, [name]: { ...(isObject(said) && said), tool_calls: calls.map(repairCall) } };
}

function hasObject(call: unknown): boolean {
  return isObject(call) && isObject(call['function']) && isObject(call['function']['arguments']);
}

function repairCall(call: unknown): unknown {
  if (!isObject(call) || !isObject(call['function']) || !hasObject(call)) return call;
  const given = call['function'];
  return { ...call, function: { ...given, arguments: JSON.stringify(given['arguments']) } };
}
