import { mkdtemp, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { FolderAssets } from '../../../src/assets/store.ts';
import type { ServerConfig } from '../../../src/mcp/config/types.ts';
import { Connections } from '../../../src/mcp/pool/connections.ts';
import { McpClient } from '../../../src/mcpClient.ts';
import type { ToolResult } from '../../../src/ports/results.ts';
import type { ServerChange, ServerRequests } from '../../../src/ports/servers.ts';
import type { ToolCallOptions } from '../../../src/ports/tools.ts';
import { renderToolResult } from '../../../src/result/markdown.ts';
import { createTemporaryFolder } from './temporaryFolder.ts';

export const SERVER = 'everything';
export const CHAT = '/chats/a.chat.md';
/** Long enough never to matter in a test that passes. */
const TIMEOUT_MS = 60_000;

export interface Called {
  readonly result: ToolResult;
  readonly markdown: string;
  /** The bytes of the file at this place among the files. */
  asset(at: number): Promise<Buffer>;
}

/** Our whole client with one server. */
export function connect(config: ServerConfig, requests: ServerRequests) {
  const logged = new LoggedLines();
  const folder = createTemporaryFolder();
  const log = (message: string) => logged.add(message);
  const client = new McpClient(
    async () =>
      new Connections({
        servers: async () => new Map([[SERVER, config]]),
        log: { debug: log, info: log, warn: log, error: log },
        timeoutMs: () => TIMEOUT_MS,
        clientInfo: { name: 'filechat-integration', version: '1' },
        requests,
      }),
  );
  const call = async (
    tool: string,
    args: Readonly<Record<string, unknown>> = {},
    options: Omit<ToolCallOptions, 'assets'> = {},
  ): Promise<Called> => {
    const chatFolder = await mkdtemp(join(folder.path, 'chat-'));
    const assets = new FolderAssets({ folder: chatFolder }).beginResult();
    const request = { id: 'c1', server: SERVER, tool, arguments: args };
    const result = await client.callTool(request, { chat: CHAT, ...options, assets });
    const paths = result.parts.flatMap((part) => (part.kind === 'asset' ? [part.asset.path] : []));
    const asset = (at: number) => readFile(join(chatFolder, paths[at] ?? ''));
    return { result, markdown: renderToolResult(result), asset };
  };
  const show = async (tool: string, args?: Readonly<Record<string, unknown>>) =>
    (await call(tool, args)).markdown;
  const close = async () => {
    await client.dispose();
    folder[Symbol.dispose]();
  };
  return { client, call, show, logged, close };
}

/** What was logged, and a way to wait for what will be. */
class LoggedLines {
  readonly lines: string[] = [];
  readonly #waiting = new Set<(line: string) => void>();

  add(line: string): void {
    this.lines.push(line);
    for (const look of this.#waiting) look(line);
  }

  next(pattern: RegExp): Promise<void> {
    return new Promise((resolve) => {
      const look = (line: string) => {
        if (!pattern.test(line)) return;
        this.#waiting.delete(look);
        resolve();
      };
      this.#waiting.add(look);
    });
  }
}

export function nextChange(client: McpClient, wanted: ServerChange): Promise<void> {
  return new Promise((resolve) => {
    const listening = client.onDidChange((_server, what) => {
      if (what !== wanted) return;
      listening.dispose();
      resolve();
    });
  });
}
