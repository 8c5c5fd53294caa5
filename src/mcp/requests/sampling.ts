import type { CreateMessageResultWithTools, SamplingMessageContentBlock } from '@modelcontextprotocol/client';
import { field, isObject } from '../../base/json.ts';
import type {
  SamplingAnswer,
  SamplingMessage,
  SamplingPart,
  SamplingRequest,
  SamplingTool,
} from '../../ports/servers.ts';
import { printJson } from '../schema/example.ts';

/** Parses the params of `sampling/createMessage`. Throws if they are not supported. */
export function readSampling(params: unknown): SamplingRequest {
  const maxTokens = field(params, 'maxTokens');
  if (typeof maxTokens !== 'number' || !Number.isSafeInteger(maxTokens) || maxTokens < 1) {
    throw new Error('“maxTokens” must be a whole number above 0.');
  }
  const messages = asList(field(params, 'messages'), 'messages').map(readMessage);
  checkCalls(messages);
  const system = field(params, 'systemPrompt');
  const temperature = field(params, 'temperature');
  const stops = field(params, 'stopSequences');
  const tools = field(params, 'tools');
  const choice = field(field(params, 'toolChoice'), 'mode');
  return {
    ...(typeof system === 'string' ? { system } : {}),
    messages,
    maxTokens,
    ...(typeof temperature === 'number' ? { temperature } : {}),
    ...(Array.isArray(stops) ? { stopSequences: stops.filter((stop) => typeof stop === 'string') } : {}),
    ...(tools === undefined ? {} : { tools: asList(tools, 'tools').map(readTool) }),
    ...(choice === 'auto' || choice === 'required' || choice === 'none' ? { toolChoice: choice } : {}),
    hints: readHints(field(field(params, 'modelPreferences'), 'hints')),
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
  const [only, ...others] = blocks;
  return {
    model,
    role: 'assistant',
    stopReason,
    content: only !== undefined && others.length === 0 ? only : blocks,
  };
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
    if (!sameIds(open, results)) {
      throw new Error('Each tool call needs a result in the next message, and each result needs a call.');
    }
    open = parts.flatMap((part) => (part.kind === 'call' ? [part.id] : []));
  }
  if (open.length > 0) throw new Error('The last message calls a tool, but has no result.');
}

function sameIds(calls: readonly string[], results: readonly string[]): boolean {
  const areAll = (some: readonly string[], others: readonly string[]) =>
    some.every((id) => others.includes(id));
  return calls.length === results.length && areAll(calls, results) && areAll(results, calls);
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

function readTool(tool: unknown): SamplingTool {
  const description = field(tool, 'description');
  return {
    name: asText(field(tool, 'name'), 'name'),
    description: typeof description === 'string' ? description : '',
    inputSchema: field(tool, 'inputSchema') ?? { type: 'object' },
  };
}

function readHints(hints: unknown): readonly string[] {
  if (!Array.isArray(hints)) return [];
  return hints.map((hint) => field(hint, 'name')).filter((name) => typeof name === 'string');
}

function asList(value: unknown, name: string): readonly unknown[] {
  if (!Array.isArray(value)) throw new Error(`“${name}” must be a list.`);
  return value;
}

function asText(value: unknown, name: string): string {
  if (typeof value !== 'string') throw new Error(`“${name}” must be a string.`);
  return value;
}
