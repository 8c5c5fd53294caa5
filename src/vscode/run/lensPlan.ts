import { replyStarts } from '../../chat/edits/fork.ts';
import type { Chat, Turn } from '../../chat/format/chat.ts';
import { interruptedReply, type NextAction, nextAction } from '../../chat/format/nextAction.ts';
import { turnBody } from '../../chat/format/parse.ts';
import type { ResourceName } from '../../ports/servers.ts';
import { findResourceLinks, type WrittenResourceLink } from '../../result/resourceLinks.ts';
import { findUnsaved } from '../../result/unsaved.ts';

export type LensKind =
  | 'run'
  | 'runTools'
  | 'editArguments'
  | 'resume'
  | 'stop'
  | 'regenerate'
  | 'fork'
  | 'readResource'
  | 'retry';

interface PlannedLens {
  readonly offset: number;
  readonly kind: LensKind;
  readonly count?: number;
  readonly resource?: ResourceName;
}

/** Lenses above older turns stay during a run, because removing their lines would make the text jump. */
export function planLenses(text: string, chat: Chat, running: boolean): readonly PlannedLens[] {
  const { turns } = chat;
  const last = lastMessageStart(text, chat);
  const next: readonly NextLens[] = running ? [{ kind: 'stop' }] : nextLenses(text, chat);
  const forks = turns.filter((_, at) => isAnswered(turns, at));
  const cut = running ? undefined : interruptedReply(turns);
  const resumable = cut && cut.start !== last ? [cut] : [];
  const replies = repliesToRegenerate(text, chat, running);
  return [
    ...forks.slice(-MAX_OF_A_KIND).map(({ start }) => ({ offset: start, kind: 'fork' as const })),
    ...resumable.map(({ start }) => ({ offset: start, kind: 'resume' as const })),
    ...next.map((lens) => ({ offset: last, ...lens })),
    ...findResourceLinks(text, chat).slice(-MAX_OF_A_KIND).map(resourceLens),
    ...replies.slice(-MAX_OF_A_KIND).map(({ start }) => ({ offset: start, kind: 'regenerate' as const })),
    ...findUnsaved(text)
      .slice(-MAX_OF_A_KIND)
      .map(({ start }) => ({ offset: start, kind: 'retry' as const })),
  ];
}

function resourceLens({ lineStart, server, uri }: WrittenResourceLink): PlannedLens {
  return { offset: lineStart, kind: 'readResource', resource: { server, uri } };
}

/** The start of the last assistant turn or non-empty user turn. */
export function lastMessageStart(text: string, { turns }: Chat): number {
  return turns.findLast((turn) => isMessage(text, turn))?.start ?? 0;
}

/** VS Code keeps DOM elements for all lenses, also for those out of view, and lays them out at every resize. */
const MAX_OF_A_KIND = 50;

type NextLens = Omit<PlannedLens, 'offset'>;

const NEXT: Readonly<Record<NextAction['kind'], LensKind | undefined>> = {
  wait: undefined,
  reply: 'run',
  resume: 'resume',
  // If all calls were sent already, a run only reports that their outcome is unknown.
  runTools: 'run',
};

function nextLenses(text: string, chat: Chat): readonly NextLens[] {
  const action = nextAction(text, chat);
  if (action.kind === 'runTools' && action.calls.length > 0) {
    return [{ kind: 'runTools', count: action.calls.length }, { kind: 'editArguments' }];
  }
  const kind = NEXT[action.kind];
  return kind ? [{ kind }] : [];
}

/** Without empty replies and the one that is being written. */
function repliesToRegenerate(text: string, chat: Chat, running: boolean): readonly Turn[] {
  const isQuestion = (turn: Turn) => turn.role === 'user' && isMessage(text, turn);
  const asked = running ? (chat.turns.findLast(isQuestion)?.start ?? 0) : Number.POSITIVE_INFINITY;
  const from = chat.turns.find(isQuestion)?.start ?? Number.POSITIVE_INFINITY;
  return replyStarts(chat).filter(
    (turn) => turn.start > from && turn.start < asked && turnBody(text, turn).trim() !== '',
  );
}

/** An empty user turn is a place to type. */
function isMessage(text: string, turn: Turn): boolean {
  return turn.role === 'assistant' || (turn.role === 'user' && turnBody(text, turn).trim() !== '');
}

/** A question with a reply, possibly after tool turns. */
function isAnswered(turns: readonly Turn[], at: number): boolean {
  if (turns[at]?.role !== 'user') return false;
  let next = at + 1;
  while (turns[next]?.role === 'tool' || turns[next]?.role === 'system') next += 1;
  return turns[next]?.role === 'assistant';
}
