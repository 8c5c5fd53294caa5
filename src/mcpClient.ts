import { open } from 'node:fs/promises';
import { fileHolds } from './assets/folderIndex.ts';
import { field, mapStrings } from './base/json.ts';
import { trimBlankLines } from './base/lines.ts';
import { type AppSink, showWithResult } from './mcp/apps/result.ts';
import { readContents } from './mcp/lists/resources.ts';
import type { Connections } from './mcp/pool/connections.ts';
import { checkStructured } from './mcp/pool/outputCheck.ts';
import { SpillTable } from './mcp/spill/table.ts';
import type { Disposable } from './ports/document.ts';
import type { ResultAssets, ResultPart, Spills, ToolResult } from './ports/results.ts';
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

import { readBlocks } from './result/blocks.ts';
import type { FieldRule } from './result/fields.ts';
import { restoreStrays } from './result/findBytes.ts';
import type { SpilledFiles } from './result/saveBytes.ts';
import { type ResultLimits, ResultSaver } from './result/saveResult.ts';
import { applyTransform, type Transform } from './result/transform.ts';

export type { AppResult, AppSink } from './mcp/apps/result.ts';
export type { ResultLimits } from './result/saveResult.ts';

export const DEFAULT_LIMITS: ResultLimits = { maxInlineChars: 10_000, maxAssetBytes: 50 * 1024 * 1024 };

export interface ResultOptions {
  readonly limits?: ResultLimits | undefined;
  /** What the placeholders in the result stand for. The caller disposes it. */
  readonly spills?: Spills | undefined;
  /** The tool's entry of `results.fields`. */
  readonly fields?: readonly FieldRule[] | undefined;
  readonly transform?: Transform | undefined;
  /** For the transformer. */
  readonly tool?: ToolName | undefined;
}

/**
 * Turns what a tool returned into parts, in the order of its blocks: one for each, and after a text one more
 * for each thing that hid in it. Bytes are files when this resolves. It never rejects: what cannot be used is
 * a problem in the place of its block.
 */
export async function processMixedToolResult(
  result: unknown,
  assets: ResultAssets,
  options: ResultOptions = {},
): Promise<ToolResult> {
  const {
    limits = DEFAULT_LIMITS,
    spills,
    fields = [],
    transform,
    tool = { server: '', tool: '' },
  } = options;
  const transformed = await applyTransform(result, transform, tool);
  const raw = readBlocks(await restoreStrays(transformed.result, spills));
  const saver = new ResultSaver({ assets, limits, files: FILES, context: { spills, rules: fields } });
  const parts: ResultPart[] =
    transformed.problem === undefined ? [] : [{ kind: 'problem', message: transformed.problem }];
  const structured = await saver.expect(raw.structured);
  // One after the other, so that the numbers follow the blocks.
  for (const block of raw.blocks) parts.push(...(await saver.saveBlock(block)));
  parts.push(...(await saver.saveStructured(structured, contentOf(transformed.result))));
  const withAssets = parts.some((part) => part.kind === 'asset');
  return { isError: raw.isError, parts: withAssets ? parts.map(trimBlankEdges) : parts };
}

export interface ToolSettings {
  readonly fields?: ((tool: ToolName) => readonly FieldRule[]) | undefined;
  readonly transform?: Transform | undefined;
}

export interface ClientOptions {
  readonly limits?: () => ResultLimits;
  readonly settings?: () => Promise<ToolSettings> | ToolSettings;
  /** Where the apps of tools are shown; asked at each call, so that a change of the setting counts at once. */
  readonly apps?: () => AppSink | undefined;
}

/** The servers and all that they offer behind the port. Nothing is opened before it is used. */
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

  /** What the server sends, as it sends it: for apps, which are the server's own. */
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
      // One after the other, so that the numbers of the files follow the messages.
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
      // Whoever reads the resource hears why.
      () => undefined,
    );
    return {
      dispose: () => {
        disposed = true;
        watch?.dispose();
      },
    };
  }

  /** As long as nothing was asked for, no server has a state worth loading the SDK for. */
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

  /** Closes what is no longer configured or allowed, or not as it was. */
  async settle(): Promise<void> {
    await (await this.#opened)?.settle();
  }

  /** Forgets what the server gave us to prove who the user is. */
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

  /** Where long strings of an answer go while it arrives; what nobody has taken is removed. */
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

/** What stands for a long string is not what the schema is about. */
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

/** What pictures end with has room in this. */
const TAIL_BYTES = 4096;

/** Files of ours that are too long for memory. */
const FILES: SpilledFiles = {
  holds: fileHolds,
  async tail({ path, size }) {
    const file = await open(path);
    try {
      const { buffer, bytesRead } = await file.read(
        Buffer.alloc(TAIL_BYTES),
        0,
        TAIL_BYTES,
        Math.max(0, size - TAIL_BYTES),
      );
      return buffer.subarray(0, bytesRead);
    } finally {
      await file.close();
    }
  },
};

/** Beside assets a text stands as Markdown, where blank lines at its edges mean nothing. */
function trimBlankEdges(part: ResultPart): ResultPart {
  if (part.kind !== 'text' || part.source) return part;
  return { ...part, text: trimBlankLines(part.text) };
}

function contentOf(result: unknown): unknown {
  return typeof result === 'object' && result !== null && 'content' in result ? result.content : undefined;
}
