import { type NextAction, nextAction } from '../chat/nextAction.ts';
import { type Chat, type Turn, turnBody } from '../chat/parse.ts';

/** One thing to click above a turn. */
export interface PlannedLens {
  /** Where the turn begins. */
  readonly offset: number;
  readonly title: string;
  readonly command: string;
}

/** What the chat asks for next stands at the last turn that says something; an earlier question can be forked. */
export function planLenses(text: string, chat: Chat, running: boolean): readonly PlannedLens[] {
  const speaker = chat.turns.findLastIndex((turn) => speaks(text, turn));
  const next = running ? STOP : nextLens(text, chat);
  const forks = chat.turns.filter((_, at) => isAnswered(chat.turns, at));
  return [
    ...forks.map(({ start }) => ({ offset: start, ...FORK })),
    ...(next ? [{ offset: chat.turns[speaker]?.start ?? 0, ...next }] : []),
  ];
}

type LensFace = Omit<PlannedLens, 'offset'>;

const FORK: LensFace = { title: '$(repo-forked) Fork', command: 'filechat.fork' };
const STOP: LensFace = { title: '$(debug-stop) Stop', command: 'filechat.stop' };
const NEXT: Readonly<Record<Exclude<NextAction['kind'], 'runTools'>, LensFace | undefined>> = {
  wait: undefined,
  reply: { title: '$(play) Run', command: 'filechat.run' },
  resume: { title: '$(debug-continue) Resume', command: 'filechat.resume' },
};

function nextLens(text: string, chat: Chat): LensFace | undefined {
  const action = nextAction(text, chat);
  if (action.kind !== 'runTools') return NEXT[action.kind];
  const count = action.calls.length;
  return { title: `$(play) Run ${count} tool ${count === 1 ? 'call' : 'calls'}`, command: 'filechat.run' };
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
