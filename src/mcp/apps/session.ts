import { messageOf } from '../../base/errors.ts';
import { field, isObject } from '../../base/json.ts';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import { fence } from '../../chat/format/fence.ts';
import type { Log } from '../../ports/document.ts';
import type { ToolCall, ToolInfo, ToolName } from '../../ports/tools.ts';
import { codeSpan } from '../../result/markdown.ts';
import type { McpApp, ToolApp } from './app.ts';

export type AppTool = ToolInfo & Pick<ToolApp, 'notForApps'>;
export type DisplayMode = 'inline' | 'fullscreen';
type JsonObject = Readonly<Record<string, unknown>>;
type Handler = (params: unknown, signal: AbortSignal) => Promise<JsonObject>;

export interface AppSessionDeps {
  /** The app's own server. Rejections are reported to the app. */
  readonly server: {
    readonly name: string;
    tools(signal: AbortSignal): Promise<readonly AppTool[]>;
    /** Resolves to the result as the server sent it. */
    call(call: ToolCall, signal: AbortSignal): Promise<unknown>;
    /** Resolve to the results of `resources/read` and `resources/list`. */
    read(uri: string, signal: AbortSignal): Promise<JsonObject>;
    resources(signal: AbortSignal): Promise<JsonObject>;
  };
  /** Each prompt resolves to false when the user declines. */
  readonly user: {
    mayCall(call: ToolCall, tool: AppTool): Promise<boolean>;
    openLink(url: URL): Promise<boolean>;
    addToChat(text: string): Promise<boolean>;
  };
  readonly frame: {
    send(message: JsonObject): void;
    resize(height: number): void;
    setMode(mode: DisplayMode): void;
    /** Offers the user to insert context from the app into the chat. */
    offerContext(text: string): void;
    close(): void;
  };
  readonly log: Log;
  readonly hostInfo: { readonly name: string; readonly version: string };
  readonly app: Pick<McpApp, 'csp' | 'permissions'>;
  /** The call that the app shows, and its result as the server sent it. */
  readonly call: ToolCall;
  readonly result: unknown;
  /** The current host context: theme, size, locale. */
  readonly context: () => JsonObject;
}

const VERSIONS = ['2026-01-26', '2025-11-21'];
const MAX_PENDING = 16;
const MAX_REFUSALS = 3;
const MAX_LOGGED = 50;
const MAX_LOG_CHARS = 500;
const MAX_TEXT_CHARS = 100_000;
const MAX_URI_CHARS = 2_000;
const MIN_HEIGHT = 40;
const MAX_HEIGHT = 20_000;
const INVALID_REQUEST = -32600;
const METHOD_NOT_FOUND = -32601;
const INVALID_PARAMS = -32602;
const INTERNAL_ERROR = -32603;
const DECLINED = -32000;

/**
 * The host side of one app. Handles the requests and notifications in its two tables and rejects all others. Messages
 * come from an untrusted page, so every field is validated.
 */
export class AppSession {
  readonly #deps: AppSessionDeps;
  readonly #ended = new AbortController();
  readonly #pending = new Map<unknown, AbortController>();
  #state: 'new' | 'initializing' | 'ready' = 'new';
  #mode: DisplayMode = 'inline';
  /** Settles when the last prompt was answered. */
  #lastPrompt: Promise<unknown> = Promise.resolve();
  #refusals = 0;
  #logged = 0;

  constructor(deps: AppSessionDeps) {
    this.#deps = deps;
  }

  get mode(): DisplayMode {
    return this.#mode;
  }

  /** Handles a message of the app. Resolves after the response was sent. */
  async receive(message: unknown): Promise<void> {
    if (this.#ended.signal.aborted) return;
    const id = field(message, 'id');
    const method = field(message, 'method');
    const params = field(message, 'params') ?? {};
    if (field(message, 'jsonrpc') !== '2.0') return this.#warn('dropped a message that is not JSON-RPC');
    // Ignores responses, because the host sends no requests.
    if (typeof method !== 'string') return;
    if (id === undefined) return this.#notified(method, params);
    if (typeof id !== 'string' && !Number.isSafeInteger(id)) {
      return this.#warn('dropped a request without a valid id');
    }
    await this.#answer(id, method, params);
  }

  contextChanged(changes: JsonObject): void {
    if (this.#state === 'ready')
      this.#send({ method: 'ui/notifications/host-context-changed', params: changes });
  }

  dispose(): void {
    this.#ended.abort();
  }

  readonly #requests: Readonly<Record<string, Handler>> = {
    'ui/initialize': async (params) => this.#initialize(params),
    ping: async () => ({}),
    'tools/call': (params, signal) => this.#callTool(params, signal),
    'resources/read': (params, signal) => this.#deps.server.read(text(params, 'uri', MAX_URI_CHARS), signal),
    'resources/list': (_params, signal) => this.#deps.server.resources(signal),
    'ui/open-link': (params) => this.#openLink(params),
    'ui/message': (params) => this.#message(params),
    'ui/update-model-context': async (params) => {
      this.#deps.frame.offerContext(contextText(params));
      return {};
    },
    'ui/request-display-mode': async (params) => this.#setMode(field(params, 'mode')),
  };

  readonly #notifications: Readonly<Record<string, (params: unknown) => void>> = {
    'ui/notifications/initialized': () => this.#initialized(),
    'ui/notifications/size-changed': (params) => this.#resize(field(params, 'height')),
    'ui/notifications/request-teardown': () => this.#deps.frame.close(),
    'notifications/message': (params) => this.#write(params),
    'notifications/cancelled': (params) => this.#pending.get(field(params, 'requestId'))?.abort(),
  };

  async #answer(id: unknown, method: string, params: unknown): Promise<void> {
    let response: JsonObject;
    const work = new AbortController();
    try {
      const handle = this.#handlerFor(method, id);
      this.#pending.set(id, work);
      response = { result: await handle(params, AbortSignal.any([work.signal, this.#ended.signal])) };
    } catch (error) {
      const code = error instanceof AppRequestError ? error.code : INTERNAL_ERROR;
      const reason = messageOf(error);
      this.#warn(`refused ${cut(method, 100)}: ${reason}`);
      response = { error: { code, message: reason } };
    } finally {
      if (this.#pending.get(id) === work) this.#pending.delete(id);
    }
    if (!work.signal.aborted) this.#send({ id, ...response });
  }

  #handlerFor(method: string, id: unknown): Handler {
    const handle = Object.hasOwn(this.#requests, method) ? this.#requests[method] : undefined;
    if (!handle)
      throw new AppRequestError(METHOD_NOT_FOUND, `Filechat does not offer ${cut(method, 100)} to apps.`);
    if (this.#state === 'new' && method !== 'ui/initialize' && method !== 'ping')
      throw new AppRequestError(INVALID_REQUEST, 'The app must send ui/initialize first.');
    if (this.#pending.has(id))
      throw new AppRequestError(INVALID_REQUEST, 'A pending request already has this id.');
    if (this.#pending.size >= MAX_PENDING)
      throw new AppRequestError(INVALID_REQUEST, 'Too many pending requests.');
    return handle;
  }

  #notified(method: string, params: unknown): void {
    const handle = Object.hasOwn(this.#notifications, method) ? this.#notifications[method] : undefined;
    if (handle) handle(params);
    else this.#warn(`dropped the unknown notification ${cut(method, 100)}`);
  }

  #initialize(params: unknown): JsonObject {
    if (this.#state !== 'new') throw new AppRequestError(INVALID_REQUEST, 'The app is already initialized.');
    this.#state = 'initializing';
    const requested = field(params, 'protocolVersion');
    const { hostInfo, app, context } = this.#deps;
    return {
      protocolVersion: VERSIONS.find((each) => each === requested) ?? VERSIONS[0],
      hostInfo,
      hostCapabilities: {
        openLinks: {},
        serverTools: {},
        serverResources: {},
        logging: {},
        message: { text: {} },
        updateModelContext: { text: {}, structuredContent: {} },
        sandbox: { csp: app.csp, permissions: app.permissions.clipboardWrite ? { clipboardWrite: {} } : {} },
      },
      hostContext: { ...context(), displayMode: this.#mode, availableDisplayModes: ['inline', 'fullscreen'] },
    };
  }

  #initialized(): void {
    if (this.#state !== 'initializing') return;
    this.#state = 'ready';
    const { call, result } = this.#deps;
    this.#send({ method: 'ui/notifications/tool-input', params: { arguments: call.arguments } });
    this.#send({ method: 'ui/notifications/tool-result', params: asResult(result) });
  }

  async #callTool(params: unknown, signal: AbortSignal): Promise<JsonObject> {
    const { server, user } = this.#deps;
    const name = text(params, 'name', MAX_URI_CHARS);
    const args = field(params, 'arguments') ?? {};
    if (!isObject(args)) throw invalidParams('“arguments” must be an object.');
    const tool = (await server.tools(signal)).find(
      (each) => each.server === server.name && each.tool === name,
    );
    if (!tool) throw invalidParams(`The server ${server.name} has no tool ${cut(name, 100)}.`);
    if (tool.notForApps) throw invalidParams(`The tool ${name} is not available to apps.`);
    // The empty id marks a call that is not in a chat, so that the prompt shows its arguments.
    const call = { server: server.name, tool: name, arguments: args, id: '' };
    if (!(await this.#ask(() => user.mayCall(call, tool)))) {
      throw new AppRequestError(DECLINED, 'The user declined this call.');
    }
    signal.throwIfAborted();
    return asResult(await server.call(call, signal));
  }

  async #openLink(params: unknown): Promise<JsonObject> {
    const written = text(params, 'url', MAX_URI_CHARS);
    const url = URL.canParse(written) ? new URL(written) : undefined;
    if (url?.protocol !== 'https:' || url.username !== '' || url.password !== '') {
      throw invalidParams('Only https URLs without a user name can be opened.');
    }
    return (await this.#ask(() => this.#deps.user.openLink(url))) ? {} : { isError: true };
  }

  async #message(params: unknown): Promise<JsonObject> {
    if (field(params, 'role') !== 'user') throw invalidParams('The role of a message must be “user”.');
    const message = blocksText(field(params, 'content'));
    if (message.trim() === '') throw invalidParams('The message is empty.');
    return (await this.#ask(() => this.#deps.user.addToChat(message))) ? {} : { isError: true };
  }

  /** One prompt at a time. After `MAX_REFUSALS` refusals in a row the user is not asked again. */
  #ask(prompt: () => Promise<boolean>): Promise<boolean> {
    const answer = this.#lastPrompt.then(async () => {
      if (this.#refusals >= MAX_REFUSALS)
        throw new AppRequestError(DECLINED, 'The user declined too many requests.');
      if (this.#ended.signal.aborted) throw new AppRequestError(DECLINED, 'The app was closed.');
      const agreed = await prompt();
      this.#refusals = agreed ? 0 : this.#refusals + 1;
      return agreed;
    });
    this.#lastPrompt = answer.catch(() => false);
    return answer;
  }

  #setMode(wanted: unknown): JsonObject {
    if ((wanted === 'inline' || wanted === 'fullscreen') && wanted !== this.#mode) {
      this.#mode = wanted;
      this.#deps.frame.setMode(wanted);
      this.contextChanged({ ...this.#deps.context(), displayMode: wanted });
    }
    return { mode: this.#mode };
  }

  #resize(height: unknown): void {
    if (typeof height !== 'number' || !Number.isFinite(height)) return;
    this.#deps.frame.resize(Math.round(Math.min(MAX_HEIGHT, Math.max(MIN_HEIGHT, height))));
  }

  #write(params: unknown): void {
    const data = field(params, 'data');
    const message = typeof data === 'string' ? data : (JSON.stringify(data) ?? '');
    const level = field(params, 'level');
    const severe = level === 'error' || level === 'critical' || level === 'alert' || level === 'emergency';
    this.#log(severe ? 'error' : level === 'warning' ? 'warn' : 'info', message);
  }

  #warn(message: string): void {
    this.#log('warn', message);
  }

  /** Limited, so that an app cannot fill the disk. */
  #log(level: 'info' | 'warn' | 'error', message: string): void {
    this.#logged += 1;
    if (this.#logged > MAX_LOGGED) return;
    const { log, call } = this.#deps;
    const short = cut(message, MAX_LOG_CHARS);
    log[level](`app of ${call.tool}: ${showInvisible(short.replace(/\s+/g, ' '))}`);
    if (this.#logged === MAX_LOGGED) log.warn(`app of ${call.tool}: further messages are not logged`);
  }

  #send(message: JsonObject): void {
    if (!this.#ended.signal.aborted) this.#deps.frame.send({ jsonrpc: '2.0', ...message });
  }
}

class AppRequestError extends Error {
  readonly code: number;

  constructor(code: number, message: string) {
    super(message);
    this.code = code;
  }
}

function invalidParams(message: string): AppRequestError {
  return new AppRequestError(INVALID_PARAMS, message);
}

function text(params: unknown, key: string, maxChars: number): string {
  const value = field(params, key);
  if (typeof value === 'string' && value !== '' && value.length <= maxChars) return value;
  throw invalidParams(`“${key}” must be a string of at most ${maxChars} characters.`);
}

function blocksText(content: unknown): string {
  if (!Array.isArray(content)) throw invalidParams('“content” must be a list of blocks.');
  const texts = content.map((block: unknown) => {
    const value = field(block, 'text');
    if (field(block, 'type') === 'text' && typeof value === 'string') return value;
    throw invalidParams('Apps can only send text.');
  });
  return limited(texts.join('\n\n'));
}

function limited(value: string): string {
  if (value.length <= MAX_TEXT_CHARS) return value;
  throw invalidParams(`The text is longer than ${MAX_TEXT_CHARS} characters.`);
}

function contextText(params: unknown): string {
  const content = blocksText(field(params, 'content') ?? []);
  const data = field(params, 'structuredContent');
  const json = isObject(data) ? limited(JSON.stringify(data, undefined, 2)) : '';
  return [content, json].filter((each) => each !== '').join('\n\n');
}

/** Apps rely on `content`, even if the server sent none. */
function asResult(result: unknown): JsonObject {
  const fields = isObject(result) ? result : {};
  return { ...fields, content: Array.isArray(fields['content']) ? fields['content'] : [] };
}

function cut(value: string, maxChars: number): string {
  return value.length <= maxChars ? value : `${value.slice(0, maxChars).toWellFormed()}…`;
}

/**
 * Text of an app for a user turn. The fence keeps it from starting a turn, calling a tool, attaching a file or loading
 * anything; the line above names its source.
 */
export function quoteForChat({ server, tool }: ToolName, text: string): string {
  const shown = showInvisible(text.replaceAll('\r\n', '\n'));
  return `From the app of ${codeSpan(tool)} (${codeSpan(server)}):\n\n${fence(shown)}`;
}
