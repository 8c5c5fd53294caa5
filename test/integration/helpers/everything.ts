import type { ServerConfig } from '../../../src/mcp/config/types.ts';
import type { McpClient } from '../../../src/mcpClient.ts';
import type { ServerChange, ServerRequests } from '../../../src/ports/servers.ts';
import type { ToolCallOptions } from '../../../src/ports/tools.ts';
import type { Cleanup } from '../../kit/folder.ts';
import { type Arguments, serve } from './serving.ts';

export const SERVER = 'everything';
export const CHAT = '/chats/a.chat.md';

/** A client of one server. */
export function connect(cleanup: Cleanup, config: ServerConfig, requests: ServerRequests) {
  const logged = new LoggedLines();
  const log = (message: string) => logged.add(message);
  const { client, callInChat } = serve(
    cleanup,
    { [SERVER]: config },
    { log: { debug: log, info: log, warn: log, error: log }, requests },
  );
  const call = (tool: string, args?: Arguments, options: Omit<ToolCallOptions, 'assets'> = {}) =>
    callInChat(`${SERVER}.${tool}`, args, { chat: CHAT, ...options });
  const show = async (tool: string, args?: Arguments) => (await call(tool, args)).markdown;
  return { client, call, show, logged };
}

/** The logged lines, and a way to wait for the next ones. */
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
