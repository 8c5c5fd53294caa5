import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from '@modelcontextprotocol/client';
import { messageOf } from '../../base/errors.ts';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import type { ServerConfig } from '../config/types.ts';

const MAX_REASON_CHARS = 2000;
const MAX_CAUSES = 5;

/**
 * The failure and its remedy as the end of a sentence, without a full stop; undefined when the error does not tell.
 * `timeout` explains a timeout.
 */
export function explainFailure(error: unknown, config: ServerConfig, timeout: string): string | undefined {
  const reason = explain(withoutProbe(error), config, timeout);
  return reason === undefined ? undefined : oneLine(reason);
}

/** `setting` is what the user can raise. */
export function explainTimeout(timeoutMs: number, setting: string): string {
  const seconds = Math.round(timeoutMs / 100) / 10;
  return `there was no response for ${seconds} s. Raise ${setting} if it needs more time`;
}

/** True when the connection is broken, not only this request. */
export function isBroken(error: unknown): boolean {
  // A restarted server does not know the session. Other statuses concern one request.
  if (error instanceof SdkHttpError) return [400, 401, 404, 410].includes(error.status);
  return networkCode(error) !== undefined || withoutProbe(error) instanceof TypeError;
}

/** True if the server does not know the session of the request, which it therefore did not accept. */
export function isExpiredSession(error: unknown): boolean {
  return error instanceof SdkHttpError && (error.status === 404 || error.status === 410);
}

export const SESSION_EXPIRED =
  'the server has ended the session, so it did not accept the request. Try again; a new session is started';

/** A server that was slow to start failed because it was opened with the wrong protocol era. */
export class ProtocolMismatch extends Error {
  readonly expected: 'modern' | 'legacy';

  constructor(expected: 'modern' | 'legacy', options: ErrorOptions) {
    super(`The server expects the ${expected} protocol.`, options);
    this.expected = expected;
  }
}

export function needsLegacyProtocol(error: unknown, { kind }: ServerConfig): boolean {
  if (error instanceof ProtocolMismatch) return error.expected === 'legacy';
  const isProbe = error instanceof SdkError && error.code === SdkErrorCode.EraNegotiationFailed;
  return isProbe && (kind === 'stdio' || error instanceof SdkHttpError);
}

export function isTimeout(error: unknown): boolean {
  return error instanceof DOMException && error.name === 'AbortError';
}

/** True for the statuses of addresses that support only the older HTTP+SSE transport. */
export function mayBeSse(error: unknown): boolean {
  return error instanceof SdkHttpError && [400, 404, 405].includes(error.status);
}

/** Makes untrusted text one line of limited length, in which invisible characters are spelled out. */
export function oneLine(text: string): string {
  const cut = text.slice(0, 2 * MAX_REASON_CHARS).toWellFormed();
  const line = showInvisible(cut.replace(/[\s\p{Cc}]+/gu, ' ')).trim();
  return line.length <= MAX_REASON_CHARS ? line : `${line.slice(0, MAX_REASON_CHARS)}…`;
}

/** A failed protocol probe is explained by its cause. */
function withoutProbe(error: unknown): unknown {
  if (!(error instanceof SdkError) || error.code !== SdkErrorCode.EraNegotiationFailed) return error;
  return error.cause ?? error;
}

function explain(error: unknown, config: ServerConfig, timeout: string): string | undefined {
  if (error instanceof ProtocolError) return error.message;
  if (error instanceof SdkHttpError) return explainStatus(error.status, config);
  if (error instanceof SseError && error.code !== undefined) return explainStatus(error.code, config);
  const code = error instanceof SdkError ? error.code : undefined;
  if (code === SdkErrorCode.RequestTimeout) return timeout;
  if (code === SdkErrorCode.ClientHttpUnexpectedContent) {
    return `${addressOf(config)} responds, but not as an MCP server. Check the path of "url"`;
  }
  return explainNetwork(error, config);
}

const STATUS_ADVICE: ReadonlyMap<number, string> = new Map([
  [400, 'It may have been restarted; try again'],
  [401, 'It requires credentials; set them in "headers"'],
  [403, 'It rejected the credentials; check "headers"'],
  [404, 'The path does not exist or the session has ended; check "url" or try again'],
  [405, 'It may use the older transport; set "type" to "sse"'],
  [429, 'There were too many requests; wait and try again'],
]);

function explainStatus(status: number, config: ServerConfig): string {
  const fallback = status >= 500 ? 'The server has a problem; see its log' : 'Check "url" and "type"';
  return `${addressOf(config)} responded with HTTP status ${status}. ${STATUS_ADVICE.get(status) ?? fallback}`;
}

const NETWORK_ADVICE: ReadonlyMap<string, (address: string) => string> = new Map([
  ['ECONNREFUSED', (address) => `no server listens at ${address}. Start it or correct "url"`],
  ['ENOTFOUND', (address) => `the host of ${address} was not found. Correct "url"`],
  ['EAI_AGAIN', (address) => `the host of ${address} could not be looked up. Check the network`],
  ['ECONNRESET', (address) => `${address} closed the connection. See the server's log`],
  ['UND_ERR_SOCKET', (address) => `${address} closed the connection. See the server's log`],
  ['bad port', (address) => `requests to the port of ${address} are not allowed. Use another port`],
  ['ETIMEDOUT', (address) => `${address} does not respond. Check the network`],
]);

const SPAWN_ADVICE: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'was not found. Install it, or set its full path in "command"'],
  ['EACCES', 'cannot be executed. Check its permissions'],
  ['EPERM', 'cannot be executed. Check its permissions'],
]);

function explainNetwork(error: unknown, config: ServerConfig): string | undefined {
  const code = networkCode(error);
  if (config.kind === 'stdio') {
    const advice = SPAWN_ADVICE.get(code ?? '');
    return advice === undefined
      ? undefined
      : `the command ${JSON.stringify(config.command)} ${advice}${hint(config)}`;
  }
  if (code === undefined && !(error instanceof TypeError)) return undefined;
  const reason = innermost(error);
  // `fetch` refuses some ports that belong to other protocols, and has no code for it.
  const advice = NETWORK_ADVICE.get(code ?? reason);
  return advice?.(addressOf(config)) ?? `the request to ${addressOf(config)} failed: ${reason}`;
}

function hint(config: ServerConfig & { kind: 'stdio' }): string {
  if (config.cwd !== undefined) return `, and make sure that the folder ${JSON.stringify(config.cwd)} exists`;
  return /\s/.test(config.command) && config.args.length === 0 ? '; its arguments belong in "args"' : '';
}

/** The code of the system error, which `fetch` and event sources wrap in causes. */
export function networkCode(error: unknown): string | undefined {
  for (
    let at: unknown = error, depth = 0;
    at instanceof Error && depth < MAX_CAUSES;
    at = at.cause, depth++
  ) {
    const code = (at as { code?: unknown }).code;
    if (typeof code === 'string' && !(at instanceof SdkError)) return code;
  }
  return undefined;
}

function innermost(error: unknown): string {
  let at = error;
  for (let depth = 0; at instanceof Error && at.cause instanceof Error && depth < MAX_CAUSES; depth++)
    at = at.cause;
  return messageOf(at);
}

/** Without user and query, which may contain secrets. */
function addressOf(config: ServerConfig): string {
  if (config.kind === 'stdio') return config.command;
  const { origin, pathname } = new URL(config.url);
  return origin + pathname;
}
