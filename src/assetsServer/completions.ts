import {
  type CompleteResult,
  type McpServer,
  ProtocolError,
  ProtocolErrorCode,
} from '@modelcontextprotocol/server';
import { ASSET_TEMPLATE, CHAT_TEMPLATE } from '../catalog/address.ts';
import type { Entry } from '../catalog/entry.ts';
import { answering } from './refusal.ts';
import type { Shared } from './shared.ts';

/** The maximum of the protocol. */
const MAX_VALUES = 100;

/** Completes the variables of the templates. Values are not percent-encoded. */
export function offerCompletions({ server }: McpServer, shared: Shared): void {
  server.registerCapabilities({ completions: {} });
  server.setRequestHandler('completion/complete', ({ params }, { mcpReq: { signal } }) =>
    answering(shared, { signal }, async (): Promise<CompleteResult> => {
      const { ref, argument, context } = params;
      if (ref.type !== 'ref/resource' || !TEMPLATES.has(ref.uri))
        throw new ProtocolError(
          ProtocolErrorCode.InvalidParams,
          `Only ${ASSET_TEMPLATE} and ${CHAT_TEMPLATE} can be completed here.`,
        );
      const { entries } = await shared.catalog.snapshot(signal);
      const variable = { name: argument.name, chat: context?.arguments?.['chat'] };
      return { completion: firstMatches(valuesFor(entries, ref.uri, variable), argument.value) };
    }),
  );
}

const TEMPLATES: ReadonlySet<string> = new Set([ASSET_TEMPLATE, CHAT_TEMPLATE]);

/** `chat` is the value of the other variable, if it is known. */
function valuesFor(
  entries: readonly Entry[],
  template: string,
  { name, chat }: { readonly name: string; readonly chat: string | undefined },
): string[] {
  const assets = entries.filter((entry) => entry.kind === 'asset');
  if (name === 'asset' && template === ASSET_TEMPLATE)
    return assets.filter((entry) => chat === undefined || entry.chat === chat).map(({ asset }) => asset);
  if (name !== 'chat') return [];
  return template === ASSET_TEMPLATE
    ? assets.map((entry) => entry.chat)
    : entries.filter((entry) => entry.kind === 'chat').map((entry) => entry.chat);
}

/** Prefix matches come before other matches. */
function firstMatches(values: readonly string[], typed: string): CompleteResult['completion'] {
  const wanted = typed.toLowerCase();
  const found = [...new Set(values)].filter((value) => value.toLowerCase().includes(wanted));
  const begins = (value: string) => value.toLowerCase().startsWith(wanted);
  const sorted = [...found.filter(begins), ...found.filter((value) => !begins(value))];
  return { values: sorted.slice(0, MAX_VALUES), total: sorted.length, hasMore: sorted.length > MAX_VALUES };
}
