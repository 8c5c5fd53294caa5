import { readTail } from './assets/facts.ts';
import { fileHolds } from './assets/folderIndex.ts';
import { field, mapStrings } from './base/json.ts';
import { type AppSink, showWithResult } from './mcp/apps/result.ts';
import { readContents } from './mcp/lists/resources.ts';
import type { Connections } from './mcp/pool/connections.ts';
import { checkStructured } from './mcp/pool/outputCheck.ts';
import { SpillTable } from './mcp/spill/table.ts';
import type { Disposable } from './ports/document.ts';
import type { ResultAssets, ToolResult } from './ports/results.ts';
import type {
  CompletionRequest,
  LogLevel,
  PromptList,
  PromptResult,
  ResourceContents,
  ResourceList,
  ResourceName,
  ServerChange,
  ServerHost,
  ServerState,
} from './ports/servers.ts';
import type { ToolCall, ToolCallOptions, ToolList, ToolName } from './ports/tools.ts';
import type { FieldRule } from './result/findBytes.ts';
import {
  DEFAULT_LIMITS,
  processResult,
  type ResultLimits,
  type ResultOptions,
  type Transform,
} from './result/process.ts';
import type { SpilledFiles } from './result/saveBytes.ts';

export type { AppResult, AppSink } from './mcp/apps/result.ts';
export type { ResultLimits } from './result/process.ts';
export { DEFAULT_LIMITS, type ResultOptions } from './result/process.ts';

export function processMixedToolResult(
  result: unknown,
  assets: ResultAssets,
  options: ResultOptions = {},
): Promise<ToolResult> {
  return processResult(result, { assets, files: SPILLED_FILES }, options);
}

/** Enough for the end of a PNG. */
const TAIL_BYTES = 4096;

const SPILLED_FILES: SpilledFiles = {
  holds: fileHolds,
  tail: ({ path, size }) => readTail(path, size, TAIL_BYTES),
};

export interface ToolSettings {
  readonly fields?: ((tool: ToolName) => readonly FieldRule[]) | undefined;
  readonly transform?: Transform | undefined;
}

export interface ClientOptions {
  readonly limits?: () => ResultLimits;
  readonly settings?: () => Promise<ToolSettings> | ToolSettings;
  /** Where the apps of tools are shown. Called for each tool call, so that a changed setting applies at once. */
  readonly apps?: () => AppSink | undefined;
}

export class McpClient implements ServerHost {
  readonly #open: () => Promise<Connections>;
  readonly #options: ClientOptions;
  readonly #listeners = new Set<(server: string, what: ServerChange) => void>();
  #opened: Promise<Connections> | undefined;

  constructor(open: () => Promise<Connections>, options: ClientOptions = {}) {
    this.#open = open;
    this.#options = options;
  }

  async listTools(server?: string, signal?: AbortSignal): Promise<ToolList> {
    return (await this.#connections()).listTools(server, signal);
  }

  async callTool(call: ToolCall, { assets, signal, onProgress, chat }: ToolCallOptions): Promise<ToolResult> {
    const { fields, transform } = (await this.#options.settings?.()) ?? {};
    const connections = await this.#connections();
    const tool = { server: call.server, tool: call.tool };
    return this.#withSpills(assets, async (spills) => {
      const raw = await connections.callTool(call, { signal, onProgress, spills, chat });
      const info = connections.toolInfo(call.server, call.tool);
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

  async callToolRaw(
    call: ToolCall,
    options: { readonly signal?: AbortSignal | undefined; readonly chat?: string | undefined },
  ): Promise<unknown> {
    return (await this.#connections()).callTool(call, options);
  }

  async listResources(server: string, signal?: AbortSignal): Promise<ResourceList> {
    return (await this.#connections()).listResources(server, signal);
  }

  async listPrompts(server: string, signal?: AbortSignal): Promise<PromptList> {
    return (await this.#connections()).listPrompts(server, signal);
  }

  async readResource(
    { server, uri }: ResourceName,
    { assets, signal, onProgress, chat }: ToolCallOptions,
  ): Promise<ToolResult> {
    const connections = await this.#connections();
    return this.#withSpills(assets, async (spills) => {
      const request = { method: 'resources/read', params: { uri } };
      const answer = await connections.read(server, request, { signal, onProgress, spills, chat });
      const contents = field(answer, 'contents');
      if (!Array.isArray(contents)) throw new Error(`Server ${server} answered without contents.`);
      const content = contents.map((resource: unknown) => ({ type: 'resource', resource }));
      return processMixedToolResult({ content }, assets, { limits: this.#limits(), spills });
    });
  }

  async fetchResource(
    { server, uri }: ResourceName,
    { maxBytes, signal }: { readonly maxBytes: number; readonly signal?: AbortSignal | undefined },
  ): Promise<readonly ResourceContents[]> {
    const connections = await this.#connections();
    const request = { method: 'resources/read', params: { uri } };
    return readContents(await connections.read(server, request, { signal }), maxBytes);
  }

  async getPrompt(
    { server, prompt, arguments: args }: Parameters<ServerHost['getPrompt']>[0],
    { assets, signal, chat }: Omit<ToolCallOptions, 'onProgress'>,
  ): Promise<PromptResult> {
    const connections = await this.#connections();
    return this.#withSpills(assets, async (spills) => {
      const request = { method: 'prompts/get', params: { name: prompt, arguments: args } };
      const messages = field(await connections.read(server, request, { signal, spills, chat }), 'messages');
      if (!Array.isArray(messages)) throw new Error(`Server ${server} answered without messages.`);
      const limits = this.#limits();
      const read: PromptResult['messages'][number][] = [];
      // Sequential, so that assets are numbered in the order of the messages.
      for (const message of messages as readonly unknown[]) {
        const content = [field(message, 'content')].flat();
        const { parts } = await processMixedToolResult({ content }, assets, { limits, spills });
        read.push({ role: field(message, 'role') === 'assistant' ? 'assistant' : 'user', parts });
      }
      return { messages: read };
    });
  }

  async complete(request: CompletionRequest, signal?: AbortSignal): Promise<readonly string[]> {
    return (await this.#connections()).complete(request, signal);
  }

  subscribe(resource: ResourceName, onUpdate: () => void): Disposable {
    let disposed = false;
    let watch: Disposable | undefined;
    this.#connections().then(
      (connections) => {
        if (!disposed) watch = connections.watch(resource, onUpdate);
      },
      // Reading the resource reports the error.
      () => undefined,
    );
    return {
      dispose: () => {
        disposed = true;
        watch?.dispose();
      },
    };
  }

  /** Does not load the SDK: before the first use, no server has a state. */
  async states(): Promise<ReadonlyMap<string, ServerState>> {
    return (await this.#opened)?.states() ?? new Map();
  }

  onDidChange(listener: (server: string, what: ServerChange) => void): Disposable {
    this.#listeners.add(listener);
    return { dispose: () => this.#listeners.delete(listener) };
  }

  async start(server: string): Promise<void> {
    await (await this.#connections()).start(server);
  }

  async stop(server: string): Promise<void> {
    await (await this.#opened)?.stop(server);
  }

  async restart(server: string): Promise<void> {
    await (await this.#connections()).restart(server);
  }

  /** Closes servers whose configuration or permission has changed or is gone. */
  async settle(): Promise<void> {
    await (await this.#opened)?.settle();
  }

  async signOut(server: string): Promise<void> {
    await (await this.#connections()).signOut(server);
  }

  async setLogLevel(server: string, level: LogLevel): Promise<void> {
    await (await this.#connections()).setLogLevel(server, level);
  }

  rootsChanged(): void {
    this.#opened?.then(
      (connections) => connections.rootsChanged(),
      () => undefined,
    );
  }

  async dispose(): Promise<void> {
    await (await this.#opened)?.dispose();
  }

  #connections(): Promise<Connections> {
    this.#opened ??= this.#open().then(
      (connections) => {
        connections.onDidChange((server, what) => {
          for (const listener of this.#listeners) listener(server, what);
        });
        return connections;
      },
      (error: unknown) => {
        this.#opened = undefined;
        throw error;
      },
    );
    return this.#opened;
  }

  #limits(): ResultLimits {
    return this.#options.limits?.() ?? DEFAULT_LIMITS;
  }

  /** Long strings of the response are decoded to files while it arrives; unused files are removed at the end. */
  async #withSpills<T>(assets: ResultAssets, work: (spills: SpillTable) => Promise<T>): Promise<T> {
    const { maxAssetBytes } = this.#limits();
    const spills = new SpillTable({ folder: () => assets.spillFolder(), maxBytes: maxAssetBytes });
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
