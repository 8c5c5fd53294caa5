import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { field, isObject } from '../../base/json2.ts';

/**
 * The SDK checks results of the revision 2026-07-28 against the whole schema, so that one bad block would lose all
 * others. So an empty result of the same kind takes the place of what came, and carries it under this key, which is
 * a symbol so that no server can make it up.
 */
const RAW = Symbol('filechat.raw');

/** What an empty result of a method looks like. */
const EMPTY: ReadonlyMap<string, Readonly<Record<string, unknown>>> = new Map([
  ['tools/call', { content: [] }],
  ['tools/list', { tools: [] }],
  ['resources/list', { resources: [] }],
  ['resources/templates/list', { resourceTemplates: [] }],
  ['resources/read', { contents: [] }],
  ['prompts/list', { prompts: [] }],
  ['prompts/get', { messages: [] }],
  ['completion/complete', { completion: { values: [] } }],
]);

/** Puts an empty result in the place of one that the SDK might judge. */
export function loosenResult(message: JSONRPCMessage, method: string | undefined): void {
  const empty = EMPTY.get(method ?? '');
  if (empty === undefined || !('result' in message) || !isObject(message.result)) return;
  const raw = message.result;
  // One that does not say what it is, is complete.
  if ((field(raw, 'resultType') ?? 'complete') !== 'complete') return;
  Object.assign(message, {
    result: { resultType: 'complete', ttlMs: 0, cacheScope: 'private', ...empty, [RAW]: raw },
  });
}

/** The result as it came. */
export function rawResult(result: unknown): unknown {
  return isObject(result) && RAW in result ? result[RAW] : result;
}
