import { field } from '../../base/json.ts';
import { renderToolName } from '../../chat/format/callInfo.ts';
import type { ChatRules } from '../../ports/models.ts';
import type { ResourceContents, ResourceName, ServerHost } from '../../ports/servers.ts';
import type {
  Audit,
  AuditEntry,
  Consent,
  ConsentAnswer,
  ConsentSource,
  ToolCall,
  ToolInfo,
  ToolName,
} from '../../ports/tools.ts';
import { audited, type Note } from '../consent/audited.ts';

export interface AppCallDeps {
  readonly host: Pick<ServerHost, 'fetchResource'> & {
    /** Resolves to the result as the server sent it, without saving files. */
    callToolRaw(
      call: ToolCall,
      options: { readonly signal?: AbortSignal | undefined; readonly chat?: string | undefined },
    ): Promise<unknown>;
  };
  /** Rejects if the front matter of the chat is invalid. */
  readonly rulesFor: (chat: string) => Promise<ChatRules>;
  readonly isSwitchedOff: (tool: ToolName) => boolean;
  readonly consent: Consent;
  readonly audit: Audit;
}

/** The tool calls of an app. They need the same permissions, and are audited, like calls in the app's chat. */
export class AppCalls {
  readonly #deps: AppCallDeps;
  readonly #chat: string;
  /** Allowed calls that have not been made yet. */
  readonly #allowed = new WeakMap<ToolCall, { readonly by: ConsentSource | undefined }>();

  constructor(deps: AppCallDeps, chat: string) {
    this.#deps = deps;
    this.#chat = chat;
  }

  /** Resolves to false if the user declines. Rejects without a dialog if a setting or the chat forbids the call. */
  async mayCall(call: ToolCall, tool: ToolInfo, signal?: AbortSignal): Promise<boolean> {
    const answer = await this.#judge(call, tool, signal).catch((error: unknown) => {
      this.#record(call, 'denied');
      throw error;
    });
    if (answer.kind === 'allow') this.#allowed.set(call, { by: answer.by });
    else this.#record(call, answer.kind === 'deny' ? 'denied' : 'cancelled');
    return answer.kind === 'allow';
  }

  async call(call: ToolCall, signal: AbortSignal): Promise<unknown> {
    const allowed = this.#allowed.get(call);
    if (!allowed) throw new Error('This call was not allowed.');
    this.#allowed.delete(call);
    const { host, audit } = this.#deps;
    const send = async (note: Note) => {
      note({ consent: allowed.by });
      const result = await host.callToolRaw(call, { signal, chat: this.#chat });
      const outcome = field(result, 'isError') === true ? 'error' : 'ok';
      note({ outcome, resultBytes: textBytes(result) });
      return result;
    };
    return audited(audit, this.#entry(call), send, signal);
  }

  async read(
    resource: ResourceName,
    options: Parameters<ServerHost['fetchResource']>[1],
  ): Promise<readonly ResourceContents[]> {
    const { host, audit } = this.#deps;
    const { server, uri } = resource;
    const entry = { kind: 'resource', server, name: uri, chat: this.#chat } as const;
    return audited(audit, entry, () => host.fetchResource(resource, options), options.signal);
  }

  async #judge(call: ToolCall, tool: ToolInfo, signal?: AbortSignal): Promise<ConsentAnswer> {
    const { rulesFor, isSwitchedOff, consent } = this.#deps;
    const name = renderToolName(call);
    if (isSwitchedOff(call)) {
      throw new Error(`The tool ${name} is turned off in the setting filechat.disabledTools.`);
    }
    const rules = await rulesFor(this.#chat);
    if (!rules.allows(call)) {
      throw new Error(`This chat does not allow the tool ${name}. See its front matter.`);
    }
    return consent.mayCall(call, tool, {
      chat: this.#chat,
      approve: rules.approve,
      ...(signal && { signal }),
    });
  }

  #record(call: ToolCall, outcome: AuditEntry['outcome']): void {
    this.#deps.audit.record({ ...this.#entry(call), outcome });
  }

  #entry({ server, tool, arguments: args }: ToolCall): Omit<AuditEntry, 'outcome' | 'consent' | 'ms'> {
    const argumentBytes = Buffer.byteLength(JSON.stringify(args));
    return { kind: 'call', server, name: tool, chat: this.#chat, argumentBytes };
  }
}

function textBytes(result: unknown): number {
  const content = field(result, 'content');
  const blocks: readonly unknown[] = Array.isArray(content) ? content : [];
  return blocks.reduce<number>((sum, block) => {
    const text = field(block, 'text');
    return sum + (typeof text === 'string' ? Buffer.byteLength(text) : 0);
  }, 0);
}
