import { readFile } from 'node:fs/promises';
import { readTail } from './assets/confined.ts';
import { fileHolds } from './assets/folderIndex.ts';
import { ConcurrencyLimit, TimeSlice } from './base/async.ts';
import { defined, field, mapStrings } from './base/json.ts';
import { SETTINGS } from './base/settings.ts';
import { showWithResult } from './mcp/apps/result.ts';
import type { ToolSettings } from './mcp/config/toolSettings.ts';
import { readContents } from './mcp/lists/definitions.ts';
import type { PoolOptions } from './mcp/pool/options.ts';
import { checkStructured } from './mcp/pool/outputCheck.ts';
import { type CallOptions, ReadingPool } from './mcp/pool/reads.ts';
import type { RunningServer } from './mcp/pool/slot.ts';
import { SpillTable } from './mcp/spill/spillFiles.ts';
import type { ResultAssets, ToolResult } from './ports/results.ts';
import type {
  CompletionRequest,
  LogLevel,
  PromptResult,
  ResourceContents,
  ResourceName,
  ServerHost,
} from './ports/servers.ts';
import type { ToolCall, ToolCallOptions } from './ports/tools.ts';
import {
  DEFAULT_LIMITS,
  limitMessages,
  prepareResult,
  processResult,
  type ResultOptions,
  type ResultPorts,
  saveTogether,
} from './result/process.ts';
import type { SpilledFiles } from './result/saveBytes.ts';
import type { ResultLimits } from './result/saveResult.ts';

export type { AppResult, AppSink } from './mcp/apps/result.ts';
export type { CallOptions } from './mcp/pool/reads.ts';
export { DEFAULT_LIMITS, type ResultOptions } from './result/process.ts';
export type { ResultLimits } from './result/saveResult.ts';

export function processMixedToolResult(
  result: unknown,
  assets: ResultAssets,
  options: ResultOptions = {},
): Promise<ToolResult> {
  return processResult(result, { assets, ...portsFor(options) }, options);
}

function roleOf(message: unknown): 'assistant' | 'user' {
  return field(message, 'role') === 'assistant' ? 'assistant' : 'user';
}

function portsFor({ limits = DEFAULT_LIMITS }: ResultOptions): Omit<ResultPorts, 'assets'> {
  return {
    files: SPILLED_FILES,
    normalize: async (value) => {
      const { normalizeResult } = await import('./content/normalizeResult.ts');
      return normalizeResult(value, { maxBytes: limits.maxAssetBytes });
    },
  };
}

/** Enough for the end of a PNG. */
const TAIL_BYTES = 4096;

const SPILLED_FILES: SpilledFiles = {
  holds: fileHolds,
  tail: ({ path, size }) => readTail(path, size, TAIL_BYTES),
  read: ({ path }) => readFile(path),
};

export interface ClientOptions extends PoolOptions {
  readonly limits?: () => ResultLimits;
  readonly settings?: () => Promise<ToolSettings> | ToolSettings;
  /** The most calls that one server runs at a time. */
  readonly maxParallelCalls?: () => number;
}

const MAX_COMPLETIONS = 100;

/** Requests to servers. A server is started when it is first needed, and the SDK is loaded with the first server. */
export class McpClient extends ReadingPool implements ServerHost {
  readonly #options: ClientOptions;
  readonly #calls: ConcurrencyLimit;

  constructor(options: ClientOptions) {
    super(options);
    this.#options = options;
    this.#calls = new ConcurrencyLimit(options.maxParallelCalls ?? (() => SETTINGS.maxParallelCalls.default));
  }

  async callTool(call: ToolCall, { assets, signal, onProgress, chat }: ToolCallOptions): Promise<ToolResult> {
    const { fields, transform } = (await this.#options.settings?.()) ?? {};
    const tool = { server: call.server, tool: call.tool };
    return this.#withSpills(assets, async (spills) => {
      const raw = await this.callToolRaw(call, { signal, onProgress, spills, chat });
      // Parsing a large response has taken long.
      await new TimeSlice().pause();
      const info = this.toolInfo(call.server, call.tool);
      const sink = info?.app === undefined ? undefined : this.#options.apps?.();
      const result =
        info && sink
          ? await showWithResult(raw, sink, { host: this, call, tool: info, chat, signal, spills })
          : raw;
      const own = { limits: this.#limits(), spills, fields: fields?.(tool), transform, tool };
      const processed = await processMixedToolResult(result, assets, own);
      const structured = field(raw, 'structuredContent');
      const problem = hasSpill(structured, spills)
        ? undefined
        : checkStructured(info?.outputSchema, structured);
      return problem === undefined || processed.isError ? processed : withProblem(processed, problem);
    });
  }

  /**
   * Calls a tool, once, and resolves to the raw result. Rejects with the signal's reason on abort, otherwise with a
   * message that can be shown in a document.
   */
  callToolRaw(call: ToolCall, options: CallOptions = {}): Promise<unknown> {
    const { server, tool } = call;
    const subject = `Tool ${tool} of server ${server}`;
    const send = async (running: RunningServer) => {
      const { makeCall } = await import('./mcp/pool/makeCall.ts');
      const result = await makeCall(call, {
        ...options,
        running,
        relist: () => this.listAgain(server),
        requests: this.#options.requests ?? {},
        askedBy: { server, chats: this.chats.at(server) },
        timeoutMs: this.timeoutMs(),
      });
      this.resetBackoff(server);
      return result;
    };
    return this.#calls.run(server, () => this.run(server, subject, options, send), options.signal);
  }

  async readResource(
    { server, uri }: ResourceName,
    { assets, signal, onProgress, chat }: ToolCallOptions,
  ): Promise<ToolResult> {
    return this.#withSpills(assets, async (spills) => {
      const request = { method: 'resources/read', params: { uri } };
      const answer = await this.read(server, request, { signal, onProgress, spills, chat });
      const contents = field(answer, 'contents');
      if (!Array.isArray(contents)) throw new Error(`Server ${server} returned no contents.`);
      const content = contents.map((resource: unknown) => ({ type: 'resource', resource }));
      return processMixedToolResult({ content }, assets, { limits: this.#limits(), spills });
    });
  }

  async fetchResource(
    { server, uri }: ResourceName,
    { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
  ): Promise<readonly ResourceContents[]> {
    const request = { method: 'resources/read', params: { uri } };
    return readContents(await this.read(server, request, { signal }), maxBytes);
  }

  async getPrompt(
    { server, prompt, arguments: args }: Parameters<ServerHost['getPrompt']>[0],
    { assets, signal, chat }: Omit<ToolCallOptions, 'onProgress'>,
  ): Promise<PromptResult> {
    return this.#withSpills(assets, async (spills) => {
      const request = { method: 'prompts/get', params: { name: prompt, arguments: args } };
      const messages = field(await this.read(server, request, { signal, spills, chat }), 'messages');
      if (!Array.isArray(messages)) throw new Error(`Server ${server} returned no messages.`);
      const options = { limits: this.#limits(), spills };
      const prepared = await Promise.all(
        messages.map((message: unknown) =>
          prepareResult({ content: [field(message, 'content')].flat() }, portsFor(options), options),
        ),
      );
      const saved = await saveTogether(assets, prepared);
      const received = saved.map(({ parts }, at) => ({ role: roleOf(messages[at]), parts }));
      const ports = { assets, files: portsFor(options).files };
      return { messages: await limitMessages(received, ports, options.limits) };
    });
  }

  async complete(
    { server, of, argument, value, others }: CompletionRequest,
    signal?: AbortSignal,
  ): Promise<readonly string[]> {
    const state = this.stateOf(server);
    if (state.kind !== 'ready' || !state.about.offers.completions) return [];
    const ref =
      of.kind === 'prompt'
        ? { type: 'ref/prompt', name: of.prompt }
        : { type: 'ref/resource', uri: of.uriTemplate };
    const context = others && { arguments: others };
    const params = { ref, argument: { name: argument, value }, ...defined({ context }) };
    try {
      const result = await this.read(server, { method: 'completion/complete', params }, { signal });
      const values = field(field(result, 'completion'), 'values');
      const texts = Array.isArray(values) ? values.filter((each) => typeof each === 'string') : [];
      return texts.slice(0, MAX_COMPLETIONS);
    } catch (error) {
      if (!signal?.aborted) this.logOf(server).info(`no completions: ${(error as Error).message}`);
      return [];
    }
  }

  async setLogLevel(server: string, level: LogLevel): Promise<void> {
    const { connection } = await this.use(server);
    await connection.setLogLevel(level, { timeoutMs: this.timeoutMs() });
  }

  rootsChanged(): void {
    for (const [name, connection] of this.running()) {
      connection.rootsChanged().catch((error: unknown) => this.logOf(name).info(String(error)));
    }
  }

  #limits(): ResultLimits {
    return this.#options.limits?.() ?? DEFAULT_LIMITS;
  }

  /** Long strings of the response are decoded to files while it arrives; unused files are removed at the end. */
  async #withSpills<T>(assets: ResultAssets, work: (spills: SpillTable) => Promise<T>): Promise<T> {
    const { maxAssetBytes } = this.#limits();
    const spills = new SpillTable({
      folder: (failure) => assets.spillFolder(failure),
      maxBytes: maxAssetBytes,
    });
    try {
      return await work(spills);
    } finally {
      await spills.dispose();
    }
  }
}

/** Output schemas describe the original strings, so a result with placeholders is not validated. */
function hasSpill(value: unknown, spills: SpillTable): boolean {
  let found = false;
  mapStrings(value, (text) => {
    found ||= spills.find(text) !== undefined;
    return text;
  });
  return found;
}

function withProblem(result: ToolResult, message: string): ToolResult {
  return { ...result, parts: [...result.parts, { kind: 'problem', message }] };
}
