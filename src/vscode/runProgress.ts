import * as vscode from 'vscode';
import { renderToolName } from '../chat/toolCall.ts';
import type { ReplyProgress } from '../listener.ts';
import type { ToolCall, ToolHost, ToolProgress } from '../ports.ts';
import { plainMessage } from './plainMessage.ts';

/** What is over sooner needs no notification. */
const PATIENCE_MS = 500;

/**
 * Says what a run waits for: a tool at work, or a provider that wants us to wait. A reply that comes needs no
 * notification, because it can be read in the document.
 */
export class RunProgress implements vscode.Disposable {
  readonly #stop: () => void;
  #shown: Shown | undefined;

  constructor(stop: () => void) {
    this.#stop = stop;
  }

  dispose(): void {
    this.#shown?.close();
    this.#shown = undefined;
  }

  /** The same tools; each call of them is shown while it lasts. */
  watch(tools: ToolHost): ToolHost {
    const atWork = new Set<ToolCall>();
    return {
      listTools: (server, signal) => tools.listTools(server, signal),
      callTool: async (call, options) => {
        atWork.add(call);
        this.#show(renderToolName(call));
        try {
          return await tools.callTool(call, options);
        } finally {
          atWork.delete(call);
          if (atWork.size === 0) this.dispose();
        }
      },
    };
  }

  tool(call: ToolCall, { message, done, total }: ToolProgress): void {
    const percent = done !== undefined && total ? Math.min(100, (done / total) * 100) : undefined;
    this.#show(`${renderToolName(call)}${message ? `: ${message}` : ''}`, percent);
  }

  reply(progress: ReplyProgress): void {
    if (progress.kind === 'waiting') {
      this.#show(`${progress.reason} Again in ${Math.ceil(progress.ms / 1000)} s.`);
    } else if (progress.kind !== 'asking') {
      this.dispose();
    } else if (this.#shown) {
      // It stays until words come: a notification that closes and opens at every try cannot be clicked.
      this.#show('Trying again…');
    }
  }

  #show(message: string, percent?: number): void {
    this.#shown ??= new Shown(this.#stop);
    this.#shown.report(plainMessage(message), percent);
  }
}

/** One notification, with Cancel. */
class Shown {
  readonly #closed = Promise.withResolvers<void>();
  readonly #timer: NodeJS.Timeout;
  #progress: vscode.Progress<{ message?: string; increment?: number }> | undefined;
  #message = '';
  #percent = 0;

  constructor(stop: () => void) {
    this.#timer = setTimeout(() => this.#open(stop), PATIENCE_MS);
  }

  report(message: string, percent = this.#percent): void {
    const increment = Math.max(0, percent - this.#percent);
    this.#message = message;
    if (this.#progress) this.#percent = Math.max(percent, this.#percent);
    this.#progress?.report({ message, increment });
  }

  close(): void {
    clearTimeout(this.#timer);
    this.#closed.resolve();
  }

  #open(stop: () => void): void {
    const options = {
      location: vscode.ProgressLocation.Notification,
      title: 'Filechat',
      cancellable: true,
    };
    void vscode.window.withProgress(options, (progress, token) => {
      this.#progress = progress;
      this.report(this.#message);
      const cancelled = token.onCancellationRequested(stop);
      return this.#closed.promise.finally(() => cancelled.dispose());
    });
  }
}
