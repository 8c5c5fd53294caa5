import { field, isObject, mapStrings, parseJson } from '../../base/json.ts';
import { parseArguments } from '../../chat/format/callInfo.ts';
import type { Turn } from '../../chat/format/chat.ts';
import { answeredCall, answersTo, isSameCall } from '../../chat/format/nextAction.ts';
import { parseChat, turnAt, turnBody } from '../../chat/format/parse.ts';
import type {
  Asset,
  AssetPart,
  DataPart,
  ResultPart,
  Spills,
  TextPart,
  ToolResult,
} from '../../ports/results.ts';
import type { ServerHost } from '../../ports/servers.ts';
import type { ToolCall, ToolInfo } from '../../ports/tools.ts';
import { readToolResult } from '../../result/markdown.ts';
import { readSpills } from '../../result/transform.ts';
import { appBlock, fetchApp, type McpApp, withPolicy } from './app.ts';

interface AssetForApp {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** Reads a file that a chat links to; undefined if it is missing or larger than `maxBytes`. */
export type ReadAsset = (asset: Asset, maxBytes: number) => Promise<AssetForApp | undefined>;

/** For all files of a result, which are sent to the app as base64 in one message. */
export const MAX_RESULT_BYTES = 20 * 1024 * 1024;

/**
 * Rebuilds the result that an app expects from a chat. Structured content that repeats the text is not in the chat, so
 * it is restored from the text.
 */
export async function resultForApp(
  { isError, parts }: { readonly isError: boolean; readonly parts: readonly ResultPart[] },
  readAsset: ReadAsset,
): Promise<Readonly<Record<string, unknown>>> {
  const content: unknown[] = [];
  let left = MAX_RESULT_BYTES;
  // In sequence, so that the first files use up the limit.
  const structured = structuredPart(parts);
  for (const part of parts) {
    if (part === structured && parts.some((each) => each !== part && hasText(each))) continue;
    const file = part.kind === 'asset' ? await readAsset(part.asset, left) : undefined;
    left -= file?.bytes.length ?? 0;
    const block = part.kind === 'asset' ? assetBlock(part, file) : blockOf(part);
    if (block) content.push(part.audience ? { ...block, annotations: { audience: [part.audience] } } : block);
  }
  const value = structured && readObject(structured.kind === 'data' ? structured.json : structured.text);
  return { content, ...(value ? { structuredContent: value } : {}), isError };
}

/**
 * The result as the server sent it: replaces placeholders by the spilled strings, as many as fit. Must be called before
 * the spill files are moved.
 */
export async function restoreForApp(result: unknown, spills: Spills): Promise<unknown> {
  const { originals, long } = await readSpills(result, spills, MAX_RESULT_BYTES);
  return mapStrings(result, (text) => originals.get(text) ?? (long.has(text) ? '' : text));
}

type ContentBlock = Readonly<Record<string, unknown>>;

function blockOf(part: Exclude<ResultPart, { kind: 'asset' }>): ContentBlock {
  switch (part.kind) {
    case 'data':
      return { type: 'text', text: part.json };
    case 'text':
      return part.source
        ? { type: 'resource', resource: { ...part.source, text: part.text } }
        : { type: 'text', text: part.text };
    case 'link': {
      const { kind: _kind, audience: _audience, ...link } = part;
      return { type: 'resource_link', ...link };
    }
    case 'problem':
      return { type: 'text', text: part.message };
  }
}

function assetBlock({ asset, preview }: AssetPart, file: AssetForApp | undefined): ContentBlock | undefined {
  if (!file) return { type: 'text', text: `(${asset.kind} ${asset.number} could not be read)` };
  const { mimeType, bytes } = file;
  // Long text that was saved as a file becomes text again.
  if (preview !== undefined) return { type: 'text', text: new TextDecoder().decode(bytes) };
  const data = Buffer.from(bytes).toString('base64');
  if (asset.kind !== 'file') return { type: asset.kind, data, mimeType };
  // The page of the app itself.
  if (mimeType === 'text/html') return undefined;
  const uri = `asset:${asset.path.slice(asset.path.lastIndexOf('/') + 1)}`;
  return { type: 'resource', resource: { uri, mimeType, blob: data } };
}

/** The part with the structured content. JSON that is the only text may be both. */
function structuredPart(parts: readonly ResultPart[]): DataPart | TextPart | undefined {
  const data = parts.findLast((part) => part.kind === 'data');
  if (data) return data;
  const texts = parts.filter((part) => part.kind === 'text' && !part.source);
  const [only] = texts;
  return texts.length === 1 && only?.kind === 'text' ? only : undefined;
}

function hasText(part: ResultPart): boolean {
  return part.kind === 'data' || (part.kind === 'text' && !part.source);
}

function readObject(json: string): Readonly<Record<string, unknown>> | undefined {
  const value = parseJson(json);
  return isObject(value) ? value : undefined;
}

export interface AppSink {
  /** Whether a server runs on this machine; its app may then use loopback. */
  isLocal(server: string): Promise<boolean>;
  show(app: AppResult): void;
}

export interface AppResult {
  readonly chat: string | undefined;
  readonly call: ToolCall;
  readonly tool: ToolInfo;
  /** As the server sent it, up to `MAX_RESULT_BYTES`. */
  readonly result: unknown;
  readonly app: McpApp;
}

/** After this the result is shown without the app. */
const FETCH_TIMEOUT_MS = 5000;

/** Shows the app of a tool, and returns the result with the app's page as an additional block. */
export async function showWithResult(
  result: unknown,
  sink: AppSink,
  about: Pick<AppResult, 'chat' | 'call' | 'tool'> & {
    readonly host: Pick<ServerHost, 'fetchResource' | 'listResources'>;
    readonly signal: AbortSignal | undefined;
    readonly spills: Spills;
  },
): Promise<unknown> {
  const { host, call, tool, chat, signal, spills } = about;
  const content = field(result, 'content');
  if (tool.app === undefined || !Array.isArray(content) || !isObject(result)) return result;
  const timeout = AbortSignal.timeout(FETCH_TIMEOUT_MS);
  const either = signal === undefined ? timeout : AbortSignal.any([signal, timeout]);
  const name = { server: tool.server, uri: tool.app };
  const local = await sink.isLocal(tool.server);
  const late = () => ({ problem: 'the server did not send it in time' });
  const app = await fetchApp(host, name, { local, signal: either }).catch(late);
  signal?.throwIfAborted();
  if ('problem' in app) {
    const text = `The app of this tool is not shown: ${app.problem}`;
    return { ...result, content: [...content, { type: 'text', text, annotations: { audience: ['user'] } }] };
  }
  sink.show({ chat, call, tool, result: await restoreForApp(result, spills), app });
  return { ...result, content: [...content, appBlock(withPolicy(app.html, app.csp), tool.app)] };
}

/** The call at an offset, in its fence or in its tool turn, with its result from the chat. */
export function answeredCallAt(
  text: string,
  offset: number,
): { readonly call: ToolCall; readonly result: ToolResult } | undefined {
  const chat = parseChat(text);
  const at = turnAt(chat, offset);
  const speakerAt = chat.turns.findLastIndex((turn) => turn.role !== 'tool' && turn.start <= offset);
  const isAnswerTo = (turn: Turn) => (call: Turn['calls'][number]) => isSameCall(answeredCall(turn), call);
  const calls = chat.turns[speakerAt]?.calls ?? [];
  const written =
    at?.role === 'tool'
      ? calls.find(isAnswerTo(at))
      : calls.find(({ start, end }) => start <= offset && offset <= end);
  const answer = written && answersTo(chat.turns, speakerAt).find((turn) => isAnswerTo(turn)(written));
  const args = written && parseArguments(written.argumentsText);
  if (!answer || !args?.ok) return undefined;
  const { server, tool, id = '' } = written;
  return {
    call: { server, tool, id, arguments: args.value },
    result: readToolResult(turnBody(text, answer)),
  };
}
