import { replyStarts } from '../../chat/edits/fork.ts';
import type { Chat, Turn } from '../../chat/format/chat.ts';
import { interruptedReply, type NextAction, nextAction } from '../../chat/format/nextAction.ts';
import { turnBody } from '../../chat/format/parse.ts';

export type LensKind = 'run' | 'runTools' | 'editArguments' | 'resume' | 'stop' | 'regenerate' | 'fork';

/** One thing to click above a turn. */
export interface PlannedLens {
  /** Where the turn begins. */
  readonly offset: number;
  readonly kind: LensKind;
  /** How many calls would be made. */
  readonly count?: number;
}

/**
 * What the chat asks for next stands at the last turn that says something; a reply can be had again, and an earlier
 * question forked. While it runs, the rows above the older turns stay: a text that jumps cannot be read.
 */
export function planLenses(text: string, chat: Chat, running: boolean): readonly PlannedLens[] {
  const { turns } = chat;
  const speaker = speakerStart(text, chat);
  const next: readonly Face[] = running ? [{ kind: 'stop' }] : nextLenses(text, chat);
  const forks = turns.flatMap(({ start }, at) =>
    isAnswered(turns, at) ? [{ offset: start, kind: FORK }] : [],
  );
  const cut = running ? undefined : interruptedReply(turns);
  const resume = cut && cut.start !== speaker ? [{ offset: cut.start, kind: RESUME }] : [];
  const again = repliesToOffer(text, chat, running).map(({ start }) => ({ offset: start, kind: REGENERATE }));
  return [
    ...forks.slice(-MAX_OF_A_KIND),
    ...resume,
    ...next.map((face) => ({ offset: speaker, ...face })),
    ...again.slice(-MAX_OF_A_KIND),
  ];
}

/** Where the last turn begins that says something. */
export function speakerStart(text: string, { turns }: Chat): number {
  return turns.findLast((turn) => speaks(text, turn))?.start ?? 0;
}

/**
 * The editor keeps elements in its page for every lens, also far from what is seen, and lays all of them out whenever
 * a chat is opened or resized. The turns before these have the commands, and no lenses.
 */
const MAX_OF_A_KIND = 50;

type Face = Omit<PlannedLens, 'offset'>;

const FORK: LensKind = 'fork';

const REGENERATE: LensKind = 'regenerate';

const RESUME: LensKind = 'resume';

const NEXT: Readonly<Record<NextAction['kind'], LensKind | undefined>> = {
  wait: undefined,
  reply: 'run',
  resume: 'resume',
  // Every call was sent already, and a run only says what became of them.
  runTools: 'run',
};

function nextLenses(text: string, chat: Chat): readonly Face[] {
  const action = nextAction(text, chat);
  if (action.kind === 'runTools' && action.calls.length > 0) {
    return [{ kind: 'runTools', count: action.calls.length }, { kind: 'editArguments' }];
  }
  const kind = NEXT[action.kind];
  return kind ? [{ kind }] : [];
}

/** The reply that is being written cannot be had again yet, and one without words only waits for them. */
function repliesToOffer(text: string, chat: Chat, running: boolean): readonly Turn[] {
  const isQuestion = (turn: Turn) => turn.role === 'user' && speaks(text, turn);
  const asked = running ? (chat.turns.findLast(isQuestion)?.start ?? 0) : Number.POSITIVE_INFINITY;
  const from = chat.turns.find(isQuestion)?.start ?? Number.POSITIVE_INFINITY;
  return replyStarts(chat).filter(
    (turn) => turn.start > from && turn.start < asked && turnBody(text, turn).trim() !== '',
  );
}

/** An empty user turn only waits for text. */
function speaks(text: string, turn: Turn): boolean {
  return turn.role === 'assistant' || (turn.role === 'user' && turnBody(text, turn).trim() !== '');
}

/** A question that an assistant has answered, with or without the help of tools. */
function isAnswered(turns: readonly Turn[], at: number): boolean {
  if (turns[at]?.role !== 'user') return false;
  let next = at + 1;
  while (turns[next]?.role === 'tool' || turns[next]?.role === 'system') next += 1;
  return turns[next]?.role === 'assistant';
}
