import { field, isObject, mapStrings } from '../../base/json.ts';
import { turnAt } from '../../chat/edits/fork.ts';
import { readArguments } from '../../chat/format/calls.ts';
import type { Turn } from '../../chat/format/chat.ts';
import { answeredCall, answersTo, isSameCall } from '../../chat/format/nextAction.ts';
import { parseChat, turnBody } from '../../chat/format/parse.ts';
import type { Asset, AssetPart, ResultPart, Spills, ToolResult } from '../../ports/results.ts';
import type { ServerHost } from '../../ports/servers.ts';
import type { ToolCall, ToolInfo } from '../../ports/tools.ts';

import { readToolResult } from '../../result/readMarkdown.ts';
import { appBlock, fetchApp, type McpApp, withPolicy } from './app.ts';

export interface AssetForApp {
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** Reads a file that a chat links to; nothing when it is gone, or larger than `maxBytes`. */
export type ReadAsset = (asset: Asset, maxBytes: number) => Promise<AssetForApp | undefined>;

/** All files of one result together; an app gets them as text in one message. */
export const MAX_RESULT_BYTES = 20 * 1024 * 1024;

/**
 * What a chat has kept of a result, as the result that an app expects. What was written down only once is given in
 * both places again: structured content that says the same as the text is not in the chat.
 */
export async function resultForApp(
  { isError, parts }: { readonly isError: boolean; readonly parts: readonly ResultPart[] },
  readAsset: ReadAsset,
): Promise<Readonly<Record<string, unknown>>> {
  const content: unknown[] = [];
  let left = MAX_RESULT_BYTES;
  // One after the other, so that the first ones get what there is of the limit.
  for (const part of parts) {
    if (part.kind === 'data') continue;
    const file = part.kind === 'asset' ? await readAsset(part.asset, left) : undefined;
    left -= file?.bytes.length ?? 0;
    const block = part.kind === 'asset' ? assetBlock(part, file) : blockOf(part);
    if (block) content.push(part.audience ? { ...block, annotations: { audience: [part.audience] } } : block);
  }
  const structured = structuredContent(parts);
  return { content, ...(structured ? { structuredContent: structured } : {}), isError };
}

/**
 * A result as the server sent it: the long strings that went into files on their way in are put back, as many as fit.
 * To be called before the files are moved to where they are kept.
 */
export async function restoreForApp(result: unknown, spills: Spills): Promise<unknown> {
  const found = new Map<string, string>();
  let left = MAX_RESULT_BYTES;
  const placeholders = new Set<string>();
  mapStrings(result, (text) => {
    if (spills.find(text)) placeholders.add(text);
    return text;
  });
  for (const placeholder of placeholders) {
    const spill = spills.find(placeholder);
    const fits = spill?.kind === 'bytes' && spill.size <= left ? spill : undefined;
    left -= fits?.size ?? 0;
    found.set(placeholder, (await fits?.original?.().catch(() => '')) ?? '');
  }
  return found.size === 0 ? result : mapStrings(result, (text) => found.get(text) ?? text);
}

type ContentBlock = Readonly<Record<string, unknown>>;

function blockOf(part: Exclude<ResultPart, { kind: 'asset' | 'data' }>): ContentBlock {
  switch (part.kind) {
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
  // Text that was too long for the chat was text before.
  if (preview !== undefined) return { type: 'text', text: new TextDecoder().decode(bytes) };
  const data = Buffer.from(bytes).toString('base64');
  if (asset.kind !== 'file') return { type: asset.kind, data, mimeType };
  // The page of the app itself, which is kept beside the result.
  if (mimeType === 'text/html') return undefined;
  const uri = `asset:${asset.path.slice(asset.path.lastIndexOf('/') + 1)}`;
  return { type: 'resource', resource: { uri, mimeType, blob: data } };
}

function structuredContent(parts: readonly ResultPart[]): Readonly<Record<string, unknown>> | undefined {
  const data = parts.findLast((part) => part.kind === 'data');
  if (data) return readObject(data.json);
  const texts = parts.filter((part) => part.kind === 'text' && !part.source);
  const [only] = texts;
  return texts.length === 1 && only?.kind === 'text' ? readObject(only.text) : undefined;
}

function readObject(json: string): Readonly<Record<string, unknown>> | undefined {
  try {
    const value: unknown = JSON.parse(json);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** Where apps are shown. */
export interface AppSink {
  /** Whether a server runs on this machine: its app may then reach loopback. */
  isLocal(server: string): Promise<boolean>;
  show(app: AppResult): void;
}

/** What an app is shown with. */
export interface AppResult {
  readonly chat: string | undefined;
  readonly call: ToolCall;
  readonly tool: ToolInfo;
  /** As it came, with all its bytes, as many as an app can take. */
  readonly result: unknown;
  readonly app: McpApp;
}

export interface AppCall {
  readonly host: Pick<ServerHost, 'fetchResource' | 'listResources'>;
  readonly call: ToolCall;
  readonly tool: ToolInfo;
  readonly chat: string | undefined;
  readonly signal: AbortSignal | undefined;
  readonly spills: Spills;
}

/** A page that takes longer does not keep the result waiting. */
const PATIENCE_MS = 5000;

/** Shows the app of a tool, and gives the tool's result with the app's page as one more block of it. */
export async function showWithResult(result: unknown, sink: AppSink, about: AppCall): Promise<unknown> {
  const { host, call, tool, chat, signal, spills } = about;
  const content = field(result, 'content');
  if (tool.app === undefined || !Array.isArray(content) || !isObject(result)) return result;
  const late = AbortSignal.timeout(PATIENCE_MS);
  const either = signal === undefined ? late : AbortSignal.any([signal, late]);
  const name = { server: tool.server, uri: tool.app };
  const app = await fetchApp(host, name, { local: await sink.isLocal(tool.server), signal: either }).catch(
    () => ({ problem: 'the server takes too long to send it' }),
  );
  signal?.throwIfAborted();
  if ('problem' in app) {
    const text = `The app of this tool is not shown: ${app.problem}`;
    return { ...result, content: [...content, { type: 'text', text, annotations: { audience: ['user'] } }] };
  }
  sink.show({ chat, call, tool, result: await restoreForApp(result, spills), app });
  return { ...result, content: [...content, appBlock(withPolicy(app.html, app.csp), tool.app)] };
}

/** The call at an offset, in its own fence or in the tool's turn that answers it, with what the chat kept of its result. */
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
  const args = written && readArguments(written.argumentsText);
  if (!answer || !args?.ok) return undefined;
  const { server, tool, id = '' } = written;
  return {
    call: { server, tool, id, arguments: args.value },
    result: readToolResult(turnBody(text, answer)),
  };
}
