import { eachLine } from '../base/lines.ts';
import type { Chat, Turn } from '../chat/format/chat.ts';
import { FenceReader } from '../chat/format/fence.ts';
import { answeredCall } from '../chat/format/nextAction.ts';
import type { ResourceName } from '../ports/servers.ts';
import { readLinkLine } from './markdown.ts';

/** A link to a resource in a tool turn. The range is that of its URI. */
export interface WrittenResourceLink extends ResourceName {
  readonly lineStart: number;
  readonly start: number;
  readonly end: number;
}

/** The links to resources in the results of a chat. The server is the one that was called. */
export function findResourceLinks(text: string, { turns }: Chat): readonly WrittenResourceLink[] {
  return turns.filter(({ role }) => role === 'tool').flatMap((turn) => linksIn(text, turn));
}

const LINK_START = '> Resource ';
/** Longer than any line that Filechat writes. */
const MAX_LINE_CHARS = 20_000;

function linksIn(text: string, turn: Turn): readonly WrittenResourceLink[] {
  const server = answeredCall(turn)?.server;
  const body = text.slice(turn.bodyStart, turn.end);
  if (server === undefined || !body.includes(LINK_START)) return [];
  const fences = new FenceReader();
  const links: WrittenResourceLink[] = [];
  for (const { text: line, start } of eachLine(body)) {
    // Text of a tool is in a fence, so that it cannot look like a link.
    const isOutside = fences.step(line) === 'outside' && !fences.inComment;
    if (!isOutside || !line.startsWith(LINK_START) || line.length > MAX_LINE_CHARS) continue;
    const link = readLinkLine(line);
    const at = turn.bodyStart + start;
    if (link)
      links.push({ server, uri: link.uri, lineStart: at, start: at + link.start, end: at + link.end });
  }
  return links;
}
