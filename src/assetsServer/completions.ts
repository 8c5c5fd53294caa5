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

/** The protocol allows no more. */
const MAX_VALUES = 100;

interface Asked {
  readonly argument: string;
  /** What was chosen for the other part of the template. */
  readonly chat: string | undefined;
}

/** Offers values for the parts of the templates, as they are before they are percent-encoded. */
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
      const asked = { argument: argument.name, chat: context?.arguments?.['chat'] };
      return { completion: firstMatches(valuesFor(entries, ref.uri, asked), argument.value) };
    }),
  );
}

const TEMPLATES: ReadonlySet<string> = new Set([ASSET_TEMPLATE, CHAT_TEMPLATE]);

function valuesFor(entries: readonly Entry[], template: string, { argument, chat }: Asked): string[] {
  const assets = entries.filter((entry) => entry.kind === 'asset');
  if (argument === 'asset' && template === ASSET_TEMPLATE)
    return assets.filter((entry) => chat === undefined || entry.chat === chat).map(({ asset }) => asset);
  if (argument !== 'chat') return [];
  return template === ASSET_TEMPLATE
    ? assets.map((entry) => entry.chat)
    : entries.filter((entry) => entry.kind === 'chat').map((entry) => entry.chat);
}

/** What begins with the words comes before what only holds them. */
function firstMatches(values: readonly string[], typed: string): CompleteResult['completion'] {
  const wanted = typed.toLowerCase();
  const found = [...new Set(values)].filter((value) => value.toLowerCase().includes(wanted));
  const begins = (value: string) => value.toLowerCase().startsWith(wanted);
  const sorted = [...found.filter(begins), ...found.filter((value) => !begins(value))];
  return { values: sorted.slice(0, MAX_VALUES), total: sorted.length, hasMore: sorted.length > MAX_VALUES };
}
