import { groupBy } from '../../base/collections.ts';
import { leaveOutRegion, leaveOutTurn } from '../../chat/edits/leaveOut.ts';
import type { Chat, Turn } from '../../chat/format/chat.ts';
import { allowsTool, type ChatSettings, setFrontMatter } from '../../chat/format/frontMatter.ts';
import { parseChat } from '../../chat/format/parse.ts';
import type { TextEdit } from '../../ports/document.ts';
import type { ModelRequest, ModelTool } from '../../ports/models.ts';
import type { ToolName } from '../../ports/tools.ts';
import { leaveOutResult } from '../../result/markdown.ts';
import { linkName } from './attachments.ts';
import { estimateFile, estimatePart, estimateTool } from './estimate.ts';
import type { TurnShare } from './request.ts';

/** A part of a request, its offset in the chat, and how to leave it out. */
export interface BreakdownItem {
  readonly what:
    | { readonly kind: 'system' }
    | { readonly kind: 'turn'; readonly turn: Turn }
    | { readonly kind: 'file'; readonly name: string; readonly turn: Turn }
    | { readonly kind: 'server'; readonly server: string; readonly tools: readonly ToolShare[] };
  readonly tokens: number;
  readonly at?: number | undefined;
  /** Removes it from the next request, not from the file. */
  readonly leaveOut?: TextEdit | undefined;
}

interface ToolShare extends ToolName {
  readonly tokens: number;
  readonly leaveOut: TextEdit;
}

export const GROUPS = ['system', 'history', 'tools', 'attachments'] as const;
type BreakdownGroup = (typeof GROUPS)[number];

/** The parts of a request by kind, the largest first. */
export type Breakdown = Readonly<Record<BreakdownGroup, readonly BreakdownItem[]>>;

export interface Explained {
  readonly text: string;
  readonly request: ModelRequest;
  readonly shares: readonly TurnShare[];
  readonly settings: ChatSettings;
}

export function breakDown(explained: Explained): Breakdown {
  const { request, shares } = explained;
  const system = estimatePart({ kind: 'text', text: request.system });
  return {
    system: system > 0 ? [{ what: { kind: 'system' }, tokens: system, at: 0 }] : [],
    history: sorted(shares.map((share) => turnItem(explained, share))),
    tools: sorted(serverItems(explained)),
    attachments: sorted(shares.flatMap((share) => fileItems(explained, share))),
  };
}

export function totalOf(items: readonly BreakdownItem[]): number {
  return items.reduce((sum, { tokens }) => sum + tokens, 0);
}

/**
 * All parts, the largest first. Their sum is the total, which may be corrected by the provider's count and includes the
 * overhead of messages.
 */
export function partsOf(breakdown: Breakdown, total: number | undefined): readonly BreakdownItem[] {
  const items = sorted(GROUPS.flatMap((group) => breakdown[group]));
  const sum = totalOf(items);
  const factor = sum > 0 && total !== undefined ? total / sum : 1;
  return items.map((item) => ({
    ...item,
    what: scaleTools(item.what, factor),
    tokens: item.tokens * factor,
  }));
}

function scaleTools(what: BreakdownItem['what'], factor: number): BreakdownItem['what'] {
  if (what.kind !== 'server') return what;
  return { ...what, tools: what.tools.map((tool) => ({ ...tool, tokens: tool.tokens * factor })) };
}

function sorted(items: readonly BreakdownItem[]): readonly BreakdownItem[] {
  return items.filter(({ tokens }) => tokens > 0).toSorted((a, b) => b.tokens - a.tokens);
}

/** The line in place of a file that is not sent belongs to the turn. */
function turnItem({ text }: Explained, { turn, parts, attachments }: TurnShare): BreakdownItem {
  const lines = attachments.flatMap(({ part, sent }) => (sent === undefined ? [part] : []));
  return {
    what: { kind: 'turn', turn },
    tokens: [...parts, ...lines].reduce((sum, part) => sum + estimatePart(part), 0),
    at: turn.start,
    leaveOut: turn.role === 'tool' ? leaveOutResult(text, turn) : leaveOutTurn(text, turn),
  };
}

/** Attachments of the user, and images from tools. */
function fileItems({ text }: Explained, { turn, parts, attachments }: TurnShare): readonly BreakdownItem[] {
  const linked = attachments.flatMap(({ link, part, sent }): readonly BreakdownItem[] => {
    if (sent === undefined) return [];
    const what = { kind: 'file', name: linkName(link), turn } as const;
    const tokens = part.kind === 'file' ? estimateFile(part) : estimatePart(part);
    return [{ what, tokens, at: link.start, leaveOut: leaveOutRegion(text, turn, link) }];
  });
  const returned = parts.flatMap((part): readonly BreakdownItem[] => {
    if (part.kind !== 'file') return [];
    const what = { kind: 'file', name: part.name, turn } as const;
    const leaveOut = leaveOutResult(text, turn, `cmdassets/${part.name}`);
    return [{ what, tokens: estimateFile(part), at: placeOf(text, turn, part.name), leaveOut }];
  });
  return [...linked, ...returned];
}

function placeOf(text: string, turn: Turn, name: string): number {
  const at = text.indexOf(name, turn.start);
  return at >= 0 && at < turn.end ? at : turn.start;
}

function serverItems(explained: Explained): readonly BreakdownItem[] {
  const { text, request, settings } = explained;
  const chat = parseChat(text);
  const servers = groupBy(request.tools, ({ tool }) => tool.server);
  return [...servers].map(([server, tools]) => {
    const shares = tools
      .map((tool) => toolShare(explained, chat, tool))
      .toSorted((a, b) => b.tokens - a.tokens);
    const others = [...servers.keys()].filter((each) => each !== server);
    const named = settings.servers?.filter((each) => each !== server) ?? others;
    return {
      what: { kind: 'server', server, tools: shares },
      tokens: shares.reduce((sum, { tokens }) => sum + tokens, 0),
      leaveOut: setFrontMatter(text, 'servers', named, chat),
    };
  });
}

function toolShare({ text, request, settings }: Explained, chat: Chat, tool: ModelTool): ToolShare {
  const { server } = tool.tool;
  const rest = request.tools.map((each) => each.tool).filter((each) => each !== tool.tool);
  const patterns = rest.flatMap((each) => {
    // Without a list in the chat, other servers stay allowed with all their tools, future ones included.
    const isWhole = each.server !== server && settings.tools === undefined;
    return isWhole ? [`${each.server}.*`] : [`${each.server}.${each.tool}`];
  });
  const kept = [...new Set(patterns)].filter((pattern) => !allowsTool({ tools: [pattern] }, tool.tool));
  return { ...tool.tool, tokens: estimateTool(tool), leaveOut: setFrontMatter(text, 'tools', kept, chat) };
}
