import * as vscode from 'vscode';
import { renderToolName } from '../../chat/format/callInfo.ts';
import type { ReplyProgress } from '../../listener.ts';
import type { Conversation } from '../../ports/models.ts';
import type { ServerHost } from '../../ports/servers.ts';
import type { ToolCall, ToolHost, ToolProgress } from '../../ports/tools.ts';
import { explainOutcome } from '../ui/failureActions.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { Notice } from '../ui/progress.ts';

/** The provider's own words are shown whole; VS Code cuts notifications after 1000 characters. */
const MAX_REASON_CHARS = 900;

/** Shows what a run waits for: a tool, a starting server, or a retry. A reply is visible in the document itself. */
export class RunProgress implements vscode.Disposable {
  readonly #stop: () => void;
  #notice: Notice | undefined;

  constructor(stop: () => void) {
    this.#stop = stop;
  }

  dispose(): void {
    this.#notice?.dispose();
    this.#notice = undefined;
  }

  watch(tools: ToolHost): ToolHost {
    const running = new Set<ToolCall>();
    return {
      listTools: (server, signal) => tools.listTools(server, signal),
      callTool: async (call, options) => {
        running.add(call);
        this.#show(renderToolName(call));
        try {
          return await tools.callTool(call, options);
        } finally {
          running.delete(call);
          if (running.size === 0) this.dispose();
        }
      },
    };
  }

  watchServers(servers: Pick<ServerHost, 'readResource' | 'getPrompt'>): typeof servers {
    const onProgress = ({ bytes }: { readonly bytes?: number | undefined }) =>
      this.#notice?.report({ bytes });
    return {
      readResource: (resource, options) => {
        const read = () => servers.readResource(resource, { ...options, onProgress });
        return this.#during(vscode.l10n.t('Reading {0}', resource.uri), read);
      },
      getPrompt: (prompt, options) => {
        const get = () => servers.getPrompt(prompt, options);
        return this.#during(vscode.l10n.t('Getting the prompt {0}', prompt.prompt), get);
      },
    };
  }

  /** Preparing a request may start servers to list their tools. */
  watchPreparation(conversation: Conversation): Conversation {
    return {
      rules: (text) => conversation.rules(text),
      tools: (text, signal) => conversation.tools(text, signal),
      prepare: (text, signal) =>
        this.#during(vscode.l10n.t('Preparing the request'), () => conversation.prepare(text, signal)),
    };
  }

  tool(call: ToolCall, { message, done, total, bytes }: ToolProgress): void {
    if (bytes !== undefined) {
      this.#notice?.report({ bytes });
      return;
    }
    const percent = done !== undefined && total ? (done / total) * 100 : undefined;
    this.#show(`${renderToolName(call)}${message ? `: ${message}` : ''}`, percent);
  }

  reply(progress: ReplyProgress): void {
    if (progress.kind === 'waiting') {
      const seconds = Math.ceil(progress.ms / 1000);
      const { failure, reason: error } = progress;
      const message = vscode.l10n.t('{0} Retrying in {1} s.', explainOutcome({ failure, error }), seconds);
      this.#open().report({ message: plainMessage(message, MAX_REASON_CHARS), counts: false });
    } else if (progress.kind !== 'asking') {
      this.dispose();
    } else if (this.#notice) {
      // Stays open until text arrives: a notification that reopens at every retry cannot be clicked.
      this.#show(vscode.l10n.t('Retrying…'));
    }
  }

  /** A notification that is already open stays: it says why this is repeated. */
  async #during<T>(message: string, work: () => Promise<T>): Promise<T> {
    if (this.#notice) return work();
    this.#show(message);
    const own = this.#notice;
    try {
      return await work();
    } finally {
      if (this.#notice === own) this.dispose();
    }
  }

  #show(message: string, percent?: number): void {
    this.#open().report({ message: plainMessage(message), counts: true, percent });
  }

  #open(): Notice {
    this.#notice ??= new Notice(this.#stop);
    return this.#notice;
  }
}
