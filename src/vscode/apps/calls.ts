import { field } from '../../base/json.ts';
import { renderToolName } from '../../chat/format/calls.ts';
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
import { audited } from '../consent/audited.ts';

/** A call whose result is not made into files: an app gets it as the server sent it. */
export interface RawCalls {
  callToolRaw(
    call: ToolCall,
    options: { readonly signal?: AbortSignal | undefined; readonly chat?: string | undefined },
  ): Promise<unknown>;
}

export interface AppCallDeps {
  readonly host: RawCalls & Pick<ServerHost, 'fetchResource'>;
  /** What a chat says about its calls. Rejects with a sentence when nobody can tell. */
  readonly rulesFor: (chat: string) => Promise<ChatRules>;
  readonly isSwitchedOff: (tool: ToolName) => boolean;
  readonly consent: Consent;
  readonly audit: Audit;
}

/** What an app calls: judged as if it stood in the chat that the app is shown for, and written down like that. */
export class AppCalls {
  readonly #parts: AppCallDeps;
  readonly #chat: string;
  /** The calls that were agreed to and not made yet, and who agreed. */
  readonly #agreed = new WeakMap<ToolCall, { readonly by: ConsentSource | undefined }>();

  constructor(parts: AppCallDeps, chat: string) {
    this.#parts = parts;
    this.#chat = chat;
  }

  /** False when the user does not want it. Rejects, before anybody is asked, when a setting or the chat is against it. */
  async mayCall(call: ToolCall, tool: ToolInfo): Promise<boolean> {
    const answer = await this.#judge(call, tool).catch((error: unknown) => {
      this.#record(call, { outcome: 'denied' });
      throw error;
    });
    if (answer.kind === 'allow') this.#agreed.set(call, { by: answer.by });
    else this.#record(call, { outcome: answer.kind === 'deny' ? 'denied' : 'cancelled' });
    return answer.kind === 'allow';
  }

  /** Makes a call that was agreed to, once. */
  async call(call: ToolCall, signal: AbortSignal): Promise<unknown> {
    const agreed = this.#agreed.get(call);
    if (!agreed) throw new Error('Nobody agreed to this call.');
    this.#agreed.delete(call);
    const startedAtMs = Date.now();
    const record = (outcome: AuditEntry['outcome'], more: Partial<AuditEntry> = {}) =>
      this.#record(call, { consent: agreed.by, outcome, ms: Date.now() - startedAtMs, ...more });
    try {
      const result = await this.#parts.host.callToolRaw(call, { signal, chat: this.#chat });
      const outcome = field(result, 'isError') === true ? 'error' : 'ok';
      record(outcome, { resultBytes: textBytes(result) });
      return result;
    } catch (error) {
      record(signal.aborted ? 'cancelled' : 'error');
      throw error;
    }
  }

  async read(
    resource: ResourceName,
    options: Parameters<ServerHost['fetchResource']>[1],
  ): Promise<readonly ResourceContents[]> {
    const { host, audit } = this.#parts;
    const entry = {
      kind: 'resource',
      server: resource.server,
      name: resource.uri,
      chat: this.#chat,
    } as const;
    return audited(audit, entry, () => host.fetchResource(resource, options), options.signal);
  }

  async #judge(call: ToolCall, tool: ToolInfo): Promise<ConsentAnswer> {
    const { rulesFor, isSwitchedOff, consent } = this.#parts;
    const name = renderToolName(call);
    if (isSwitchedOff(call)) {
      throw new Error(`The tool ${name} is switched off. The setting filechat.disabledTools says so.`);
    }
    const rules = await rulesFor(this.#chat);
    if (!rules.allows(call)) {
      throw new Error(`This chat does not allow the tool ${name}. See its front matter.`);
    }
    return consent.mayCall(call, tool, { approve: rules.approve });
  }

  #record(call: ToolCall, more: Pick<AuditEntry, 'outcome'> & Partial<AuditEntry>): void {
    this.#parts.audit.record({
      kind: 'call',
      server: call.server,
      name: call.tool,
      chat: this.#chat,
      argumentBytes: Buffer.byteLength(JSON.stringify(call.arguments)),
      ...more,
    });
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
