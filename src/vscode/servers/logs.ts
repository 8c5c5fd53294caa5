import * as vscode from 'vscode';
import { showInvisible } from '../../chat/format/escape.ts';
import type { Log } from '../../ports/document.ts';
import { plainMessage } from '../ui/plainMessage.ts';

const MAX_MESSAGE_CHARS = 10_000;

/** One output channel per server, created with its first message. */
export class ServerLogs implements vscode.Disposable {
  readonly #channels = new Map<string, vscode.LogOutputChannel>();

  dispose(): void {
    for (const channel of this.#channels.values()) channel.dispose();
    this.#channels.clear();
  }

  logFor(server: string): Log {
    const channel = () => this.#channel(server);
    return {
      // As info, because the channel hides debug messages, which a server sends only when they were requested.
      debug: (message) => channel().info(`[debug] ${readable(message)}`),
      info: (message) => channel().info(readable(message)),
      warn: (message) => channel().warn(readable(message)),
      error: (message) => channel().error(readable(message)),
    };
  }

  show(server: string): void {
    this.#channel(server).show();
  }

  #channel(server: string): vscode.LogOutputChannel {
    const known = this.#channels.get(server);
    if (known) return known;
    const channel = vscode.window.createOutputChannel(`Filechat: ${plainMessage(server)}`, { log: true });
    this.#channels.set(server, channel);
    return channel;
  }
}

function readable(message: string): string {
  const cut =
    message.length > MAX_MESSAGE_CHARS
      ? `${message.slice(0, MAX_MESSAGE_CHARS).toWellFormed()}… (${message.length.toLocaleString('en')} characters)`
      : message;
  return showInvisible(cut);
}
