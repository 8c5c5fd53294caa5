import { CLIENT_INFO_META_KEY, type McpServer, type ServerContext } from '@modelcontextprotocol/server';
import { stopwatch } from '../base/async.ts';
import { field } from '../base/json.ts';
import { visibleLine } from '../base/lines.ts';
import type { AuditEntry, AuditedFile } from '../ports/tools.ts';
import type { Shared } from './shared.ts';

export const SERVER_NAME = 'filechat-assets';

const MAX_CLIENT_CHARS = 200;

/** `claude-ai 1.2.0`. Modern clients say who they are with each request, older ones once. */
export function clientOf({ server }: McpServer, { mcpReq }: ServerContext): string | undefined {
  const info = field(mcpReq.envelope, CLIENT_INFO_META_KEY) ?? server.getClientVersion();
  const words = [field(info, 'name'), field(info, 'version')].filter((word) => typeof word === 'string');
  return visibleLine(words.join(' ')).slice(0, MAX_CLIENT_CHARS) || undefined;
}

export interface Access extends Pick<AuditEntry, 'kind' | 'name' | 'client'> {
  /** The file that the client named, for requests that fail. */
  readonly asked: unknown;
  readonly signal: AbortSignal;
}

/** Does the work of a request and records it. `filesOf` finds the files that were transferred. */
export async function recorded<T>(
  { audit }: Pick<Shared, 'audit'>,
  { asked, signal, ...entry }: Access,
  work: () => Promise<T>,
  filesOf: (result: T) => readonly AuditedFile[] | undefined,
): Promise<T> {
  if (!audit) return work();
  const elapsedMs = stopwatch();
  const named = typeof asked === 'string' ? [{ name: asked, bytes: 0 }] : undefined;
  const record = (outcome: AuditEntry['outcome'], files: AuditEntry['files']) =>
    audit.record({ ...entry, server: SERVER_NAME, files, outcome, ms: elapsedMs() });
  try {
    const result = await work();
    const isFailure = field(result, 'isError') === true;
    if (isFailure) record(signal.aborted ? 'cancelled' : 'error', named);
    else record('ok', filesOf(result));
    return result;
  } catch (error) {
    record(signal.aborted ? 'cancelled' : 'error', named);
    throw error;
  }
}
