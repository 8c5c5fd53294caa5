import type { CreateMessageResultWithTools, SamplingMessageContentBlock } from '@modelcontextprotocol/client';
import { BUDGET } from '../../base/budget.ts';
import { defined, field, isObject, jsonChars, sameJson } from '../../base/json.ts';
import type {
  SamplingAnswer,
  SamplingMessage,
  SamplingPart,
  SamplingRequest,
  SamplingTool,
} from '../../ports/servers.ts';
import { schemaProblem } from '../schema/schemaLimits.ts';
import { printJson } from '../schema/walk.ts';

/** All of it is shown to the user, with invisible characters spelled out. */
const MAX_TEXT_CHARS = 400_000;
const MAX_STOPS = 100;
const MAX_STOP_CHARS = 1000;

/** Parses the params of `sampling/createMessage`. Throws if they are not supported. */
export function readSampling(params: unknown): SamplingRequest {
  const maxTokens = field(params, 'maxTokens');
  if (typeof maxTokens !== 'number' || !Number.isSafeInteger(maxTokens) || maxTokens < 1) {
    throw new Error('“maxTokens” must be a whole number above 0.');
  }
  const messages = asList(field(params, 'messages'), 'messages').map(readMessage);
  const system = textOf(field(params, 'systemPrompt'));
  const chars = messages.flatMap(({ parts }) => parts).reduce((sum, part) => sum + textChars(part), 0);
  if (chars + (system?.length ?? 0) > MAX_TEXT_CHARS)
    throw new Error(`The messages have more than ${MAX_TEXT_CHARS} characters of text.`);
  checkCalls(messages);
  const stops = field(params, 'stopSequences');
  const tools = field(params, 'tools');
  const choice = field(field(params, 'toolChoice'), 'mode');
  const hints = field(field(params, 'modelPreferences'), 'hints');
  const temperature = field(params, 'temperature');
  return {
    messages,
    maxTokens,
    hints: Array.isArray(hints) ? hints.map((hint) => field(hint, 'name')).filter(isText) : [],
    ...defined({
      system,
      temperature: typeof temperature === 'number' ? temperature : undefined,
      stopSequences: Array.isArray(stops) ? readStops(stops) : undefined,
      tools: tools === undefined ? undefined : readTools(tools),
      toolChoice: (['auto', 'required', 'none'] as const).find((each) => each === choice),
    }),
  };
}

/** The result for the server. A single block is not wrapped in a list, as servers without tools expect. */
export function writeSamplingAnswer({
  model,
  parts,
  stopReason,
}: SamplingAnswer): CreateMessageResultWithTools {
  const texts = parts.filter((part) => part.kind === 'text');
  const calls = parts.filter((part) => part.kind === 'call');
  const text = texts.map((part) => part.text).join('');
  const blocks: SamplingMessageContentBlock[] = [
    ...(text === '' && calls.length > 0 ? [] : [{ type: 'text' as const, text }]),
    ...calls.map(({ id, name, arguments: input }) => ({ type: 'tool_use' as const, id, name, input })),
  ];
  const [only] = blocks.length === 1 ? blocks : [];
  return { model, role: 'assistant', stopReason, content: only ?? blocks };
}

function readMessage(message: unknown): SamplingMessage {
  const role = field(message, 'role');
  if (role !== 'user' && role !== 'assistant') {
    throw new Error('The role of a message must be “user” or “assistant”.');
  }
  const content = field(message, 'content');
  const parts = (Array.isArray(content) ? content : [content]).map(readBlock);
  if (role === 'user' && parts.some(({ kind }) => kind === 'call')) {
    throw new Error('Only messages of the assistant can contain tool calls.');
  }
  const results = parts.filter(({ kind }) => kind === 'result');
  if (results.length > 0 && (role === 'assistant' || results.length < parts.length)) {
    throw new Error('Tool results must be in user messages that contain nothing else.');
  }
  return { role, parts };
}

/** Providers reject calls without results, and results without calls. */
function checkCalls(messages: readonly SamplingMessage[]): void {
  let open: readonly string[] = [];
  for (const { parts } of messages) {
    const results = parts.flatMap((part) => (part.kind === 'result' ? [part.id] : []));
    if (!sameJson(open.toSorted(), results.toSorted())) {
      throw new Error('Each tool call needs a result in the next message, and each result needs a call.');
    }
    open = parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []));
  }
  if (open.length > 0) throw new Error('The last message calls a tool, but has no result.');
}

function readBlock(block: unknown): SamplingPart {
  const type = field(block, 'type');
  switch (type) {
    case 'text':
      return { kind: 'text', text: asText(field(block, 'text'), 'text') };
    case 'image':
    case 'audio':
      return {
        kind: type,
        mimeType: asText(field(block, 'mimeType'), 'mimeType'),
        data: asText(field(block, 'data'), 'data'),
      };
    case 'tool_use':
      return readCall(block);
    case 'tool_result':
      return {
        kind: 'result',
        id: asText(field(block, 'toolUseId'), 'toolUseId'),
        isError: field(block, 'isError') === true,
        parts: readResult(block),
      };
    default:
      throw new Error('A message has an unsupported type of content.');
  }
}

/** Each is looked for in each piece of the response. */
function readStops(stops: readonly unknown[]): readonly string[] {
  const texts = stops.filter(isText);
  if (texts.length <= MAX_STOPS && texts.every(({ length }) => length <= MAX_STOP_CHARS)) return texts;
  throw new Error(
    `There can be at most ${MAX_STOPS} “stopSequences”, of at most ${MAX_STOP_CHARS} characters each.`,
  );
}

function textChars(part: SamplingPart): number {
  if (part.kind === 'text') return part.text.length;
  if (part.kind === 'call') return jsonChars(part.arguments, MAX_TEXT_CHARS);
  return part.kind === 'result' ? part.parts.reduce((sum, each) => sum + textChars(each), 0) : 0;
}

function readCall(block: unknown): SamplingPart {
  const input = field(block, 'input');
  if (!isObject(input)) throw new Error('The “input” of a tool call must be an object.');
  const name = asText(field(block, 'name'), 'name');
  return { kind: 'call', id: asText(field(block, 'id'), 'id'), name, arguments: input };
}

function readResult(block: unknown): readonly SamplingPart[] {
  const content = asList(field(block, 'content') ?? [], 'content');
  const structured = field(block, 'structuredContent');
  if (content.length > 0 || structured === undefined) return content.map(readResultBlock);
  return [{ kind: 'text', text: printJson(structured) ?? '' }];
}

/** Models accept no resources, so these become their text or URI. */
function readResultBlock(block: unknown): SamplingPart {
  const type = field(block, 'type');
  if (type === 'text' || type === 'image' || type === 'audio') return readBlock(block);
  const resource = type === 'resource' ? field(block, 'resource') : block;
  const text = field(resource, 'text');
  if (type === 'resource' && typeof text === 'string') return { kind: 'text', text };
  if (type !== 'resource' && type !== 'resource_link') {
    throw new Error('A tool result has an unsupported type of content.');
  }
  return { kind: 'text', text: `[resource ${asText(field(resource, 'uri'), 'uri')}]` };
}

function readTools(tools: unknown): readonly SamplingTool[] {
  const list = asList(tools, 'tools');
  if (list.length > BUDGET.listItems) throw new Error(`There are more than ${BUDGET.listItems} “tools”.`);
  return list.map(readTool);
}

function readTool(tool: unknown): SamplingTool {
  const name = asText(field(tool, 'name'), 'name');
  const inputSchema = field(tool, 'inputSchema') ?? { type: 'object' };
  const problem = schemaProblem(inputSchema);
  if (problem !== undefined) throw new Error(`The schema of “${name}” cannot be used: it ${problem}.`);
  return { name, description: textOf(field(tool, 'description')) ?? '', inputSchema };
}

function isText(value: unknown): value is string {
  return typeof value === 'string';
}

function textOf(value: unknown): string | undefined {
  return isText(value) ? value : undefined;
}

function asList(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`“${name}” must be a list.`);
  return value;
}

function asText(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new Error(`“${name}” must be a string.`);
  return value;
}
