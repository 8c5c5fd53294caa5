import { ProtocolError, SdkError, SdkErrorCode, SdkHttpError, SseError } from '@modelcontextprotocol/client';
import { messageOf } from '../../base/errors.ts';
import type { ServerConfig } from '../config/types.ts';

/** Long enough to say what is wrong, short enough for a line in a document. */
const MAX_REASON_CHARS = 2000;
const MAX_CAUSES = 5;

/**
 * What went wrong and what to do about it, as the end of a sentence without its full stop; undefined when the
 * error does not say. `timeoutMs` is how long was waited for whatever failed.
 */
export function explainFailure(error: unknown, config: ServerConfig, timeoutMs: number): string | undefined {
  const reason = explain(withoutProbe(error), config, timeoutMs);
  return reason === undefined ? undefined : oneLine(reason);
}

export function explainSilence(timeoutMs: number): string {
  const seconds = Math.round(timeoutMs / 100) / 10;
  return `there was no answer for ${seconds} s. Raise filechat.timeoutSeconds if it needs more time`;
}

/** True when the way to the server is broken, and not only this one request. */
export function isBroken(error: unknown): boolean {
  if (error instanceof SdkHttpError) {
    // A server that was started anew does not know the old session. Whatever else it refuses is about one request.
    return [400, 401, 404, 410].includes(error.status);
  }
  return networkCode(error) !== undefined || withoutProbe(error) instanceof TypeError;
}

/** Foreign text as one line of bounded length. */
export function oneLine(text: string): string {
  const line = text
    .slice(0, 2 * MAX_REASON_CHARS)
    .replace(/[\s\p{Cc}]+/gu, ' ')
    .trim();
  return line.length <= MAX_REASON_CHARS ? line : `${line.slice(0, MAX_REASON_CHARS)}…`;
}

/** What went wrong while the revision was being found out is told as it would be without that. */
function withoutProbe(error: unknown): unknown {
  if (!(error instanceof SdkError) || error.code !== SdkErrorCode.EraNegotiationFailed) return error;
  return error.cause ?? error;
}

function explain(error: unknown, config: ServerConfig, timeoutMs: number): string | undefined {
  if (error instanceof ProtocolError) {
    return error.message;
  }
  if (error instanceof SdkHttpError) {
    return explainStatus(error.status, config);
  }
  if (error instanceof SseError && error.code !== undefined) {
    return explainStatus(error.code, config);
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) {
    return explainSilence(timeoutMs);
  }
  if (error instanceof SdkError && error.code === SdkErrorCode.ClientHttpUnexpectedContent) {
    return `${addressOf(config)} answers, but not as an MCP server. Check the path of "url"`;
  }
  return explainNetwork(error, config);
}

const STATUS_ADVICE: ReadonlyMap<number, string> = new Map([
  [400, 'It may have been started anew; try again'],
  [401, 'It wants credentials; give them in "headers"'],
  [403, 'It refuses these credentials; check "headers"'],
  [404, 'Nothing is at that path, or the session has ended; check "url" or try again'],
  [405, 'It may speak the older protocol; set "type" to "sse"'],
  [429, 'It is asked too often; wait and try again'],
]);

function explainStatus(status: number, config: ServerConfig): string {
  const advice =
    STATUS_ADVICE.get(status) ?? (status >= 500 ? 'The fault is in the server; see its log' : '');
  const fallback = 'Check "url" and "type"';
  return `${addressOf(config)} answered with HTTP status ${status}. ${advice === '' ? fallback : advice}`;
}

const NETWORK_ADVICE: ReadonlyMap<string, (address: string) => string> = new Map([
  ['ECONNREFUSED', (address) => `nothing listens at ${address}. Start the server or correct "url"`],
  ['ENOTFOUND', (address) => `the host of ${address} is not known. Correct "url"`],
  ['EAI_AGAIN', (address) => `the host of ${address} cannot be looked up. Check the network`],
  ['ECONNRESET', (address) => `${address} broke off. See the server's log`],
  ['UND_ERR_SOCKET', (address) => `${address} broke off. See the server's log`],
  ['ETIMEDOUT', (address) => `${address} does not answer. Check the network`],
]);

const SPAWN_ADVICE: ReadonlyMap<string, string> = new Map([
  ['ENOENT', 'was not found. Install it, or give its whole path in "command"'],
  ['EACCES', 'may not be executed. Check its permissions'],
  ['EPERM', 'may not be executed. Check its permissions'],
]);

function explainNetwork(error: unknown, config: ServerConfig): string | undefined {
  const code = networkCode(error);
  if (config.kind === 'stdio') {
    const advice = SPAWN_ADVICE.get(code ?? '');
    return advice === undefined
      ? undefined
      : `the command ${JSON.stringify(config.command)} ${advice}${hint(config)}`;
  }
  if (code === undefined && !(error instanceof TypeError)) {
    return undefined;
  }
  const advice = NETWORK_ADVICE.get(code ?? '');
  return advice?.(addressOf(config)) ?? `the request to ${addressOf(config)} failed: ${innermost(error)}`;
}

function hint(config: ServerConfig & { kind: 'stdio' }): string {
  if (config.cwd !== undefined) {
    return `, and see that the folder ${JSON.stringify(config.cwd)} exists`;
  }
  return /\s/.test(config.command) && config.args.length === 0 ? '; its arguments belong in "args"' : '';
}

/** `fetch` hides the system's error in the cause of its own; event sources hide it once more. */
export function networkCode(error: unknown): string | undefined {
  for (
    let at: unknown = error, depth = 0;
    at instanceof Error && depth < MAX_CAUSES;
    at = at.cause, depth++
  ) {
    const code = (at as { code?: unknown }).code;
    if (typeof code === 'string' && !(at instanceof SdkError)) {
      return code;
    }
  }
  return undefined;
}

function innermost(error: unknown): string {
  let at = error;
  for (let depth = 0; at instanceof Error && at.cause instanceof Error && depth < MAX_CAUSES; depth++) {
    at = at.cause;
  }
  return messageOf(at);
}

/** Without query and user, which may hold a secret. */
function addressOf(config: ServerConfig): string {
  if (config.kind === 'stdio') {
    return config.command;
  }
  const { origin, pathname } = new URL(config.url);
  return origin + pathname;
}
