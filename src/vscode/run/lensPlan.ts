import { replyStarts } from '../../chat/edits/fork.ts';
import type { Chat, Turn } from '../../chat/format/chat.ts';
import { answersTo, interruptedReply, type NextAction, nextAction } from '../../chat/format/nextAction.ts';
import { isEmptyTurn, turnBody } from '../../chat/format/parse.ts';
import { DECLINED } from '../../loop/permission.ts';
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
  | 'model'
  | 'readResource'
  | 'retry';

interface PlannedLens {
  readonly offset: number;
  readonly kind: LensKind;
  readonly count?: number;
  /** The offset of the turn that the command is about, if it is not that of the lens. */
  readonly about?: number;
  readonly resource?: ResourceName;
}

/**
 * Lenses above older turns stay during a run, because removing their lines would make the text jump. The question of
 * the run has none beside its reply: while text arrives, VS Code does not replace the Stop that it had first.
 */
export function planLenses(text: string, chat: Chat, running: boolean): readonly PlannedLens[] {
  const { turns } = chat;
  const asked = running ? askedAt(text, chat) : Number.POSITIVE_INFINITY;
  const forks = turns.filter(({ start }, at) => start < asked && isAnswered(turns, at));
  const replies = repliesToRegenerate(text, chat, asked);
  const row = running
    ? [{ offset: lastMessageStart(text, chat), kind: 'stop' as const }]
    : planRow(text, chat);
  const cut = running ? undefined : interruptedReply(turns);
  const resumable = cut && !row.some(({ kind }) => kind === 'resume') ? [cut] : [];
  // That of the last reply is in the row, because the reply may begin pages above.
  const earlier = replies.filter(({ start }) => !row.some(({ about }) => about === start));
  return [
    ...forks.slice(-MAX_OF_A_KIND).map(({ start }) => ({ offset: start, kind: 'fork' as const })),
    ...resumable.map(({ start }) => ({ offset: start, kind: 'resume' as const })),
    ...row,
    ...findResourceLinks(text, chat).slice(-MAX_OF_A_KIND).map(resourceLens),
    ...earlier.slice(-MAX_OF_A_KIND).map(({ start }) => ({ offset: start, kind: 'regenerate' as const })),
    ...findUnsaved(text)
      .slice(-MAX_OF_A_KIND)
      .map(({ start }) => ({ offset: start, kind: 'retry' as const })),
  ];
}

/** What can be done next, above the last turn. */
function planRow(text: string, chat: Chat): readonly PlannedLens[] {
  const offset = rowStart(text, chat);
  if (offset === undefined) return [];
  const reply = repliesToRegenerate(text, chat).at(-1);
  return [
    ...nextLenses(text, chat),
    ...(reply ? [{ kind: 'regenerate' as const, about: reply.start }, { kind: 'fork' as const }] : []),
    { kind: 'model' as const },
  ].map((lens) => ({ offset, ...lens }));
}

/** The turn where the user writes next, or else the last message. Undefined if there are no turns. */
export function rowStart(text: string, chat: Chat): number | undefined {
  const last = chat.turns.at(-1);
  return last && (last.role === 'user' ? last.start : lastMessageStart(text, chat));
}

/** The line below the marker of an empty turn at the end, where the user writes next. */
export function placeToWrite(text: string, { turns }: Chat): number | undefined {
  if (text.trim() === '') return 0;
  const last = turns.at(-1);
  if (last?.role !== 'user' || !isEmptyTurn(text, last)) return undefined;
  return text.slice(last.start, last.bodyStart).endsWith('\n') ? last.bodyStart : undefined;
}

/** Whether the chat ends with an empty turn in which the user can tell the model why a call was declined. */
export function wantsReason(text: string, { turns }: Chat): boolean {
  const last = turns.at(-1);
  if (last?.role !== 'user' || !isEmptyTurn(text, last)) return false;
  const at = turns.findLastIndex(({ role }) => role === 'assistant');
  const answers = answersTo(turns, at);
  return (
    at >= 0 &&
    turns.indexOf(last) === at + answers.length + 1 &&
    answers.some((turn) => turnBody(text, turn).trim() === `> ⚠ ${DECLINED}`)
  );
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

type NextLens = Omit<PlannedLens, 'offset' | 'about'>;

const NEXT: Readonly<Record<NextAction['kind'], LensKind>> = {
  // So that the row stays the same when the user begins to type.
  wait: 'run',
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
  const isBroken = action.kind === 'wait' && chat.problems.length > 0;
  return isBroken ? [] : [{ kind: NEXT[action.kind] }];
}

/** Without empty replies and the one that is being written. */
function repliesToRegenerate(text: string, chat: Chat, asked = Number.POSITIVE_INFINITY): readonly Turn[] {
  const from = chat.turns.find((turn) => isQuestion(text, turn))?.start ?? Number.POSITIVE_INFINITY;
  return replyStarts(chat).filter(
    (turn) => turn.start > from && turn.start < asked && turnBody(text, turn).trim() !== '',
  );
}

/** The start of the question that a run answers. */
function askedAt(text: string, { turns }: Chat): number {
  return turns.findLast((turn) => isQuestion(text, turn))?.start ?? 0;
}

function isQuestion(text: string, turn: Turn): boolean {
  return turn.role === 'user' && isMessage(text, turn);
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
