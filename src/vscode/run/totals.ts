import { CHARS_PER_TOKEN } from '../../base/size.ts';
import type { Usage } from '../../ports/models.ts';
import { isAtOrBelow, renamedPath } from '../chat/renamedPath.ts';

export interface SpentTurn {
  readonly model: string;
  readonly usage: Usage;
  /** Undefined if the price is unknown. */
  readonly dollars?: number | undefined;
}

export interface ChatTotal {
  /** The chat's URI. */
  readonly chat: string;
  readonly count: number;
  readonly tokens: number;
  /** Of the turns with a known price. */
  readonly dollars: number;
  readonly unpriced: number;
  /** The most recent ones. */
  readonly turns: readonly SpentTurn[];
}

/** The most recently used chat is the last. */
export type ChatTotals = readonly ChatTotal[];

const MAX_CHATS = 200;
const MAX_TURNS = 20;

export function addTurn(totals: ChatTotals, chat: string, turn: SpentTurn): ChatTotals {
  const before = findTotal(totals, chat);
  const after: ChatTotal = {
    chat,
    count: (before?.count ?? 0) + 1,
    tokens: (before?.tokens ?? 0) + (turn.usage.input ?? 0) + (turn.usage.output ?? 0),
    dollars: (before?.dollars ?? 0) + (turn.dollars ?? 0),
    unpriced: (before?.unpriced ?? 0) + (turn.dollars === undefined ? 1 : 0),
    turns: [...(before?.turns ?? []), turn].slice(-MAX_TURNS),
  };
  return [...totals.filter((each) => each.chat !== chat), after].slice(-MAX_CHATS);
}

export function findTotal(totals: ChatTotals, chat: string): ChatTotal | undefined {
  return totals.find((each) => each.chat === chat);
}

/** A chat that had the new name before was overwritten. */
export function renameChats(totals: ChatTotals, from: string, to: string): ChatTotals {
  const renamed = totals.map((total) => ({
    ...total,
    chat: renamedPath(total.chat, from, to) ?? total.chat,
  }));
  const moved = new Set(renamed.filter(({ chat }, at) => chat !== totals[at]?.chat).map(({ chat }) => chat));
  return renamed.filter(({ chat }, at) => chat !== totals[at]?.chat || !moved.has(chat));
}

/** A new chat can get the name of a deleted one. */
export function forgetChats(totals: ChatTotals, deleted: string): ChatTotals {
  return totals.filter(({ chat }) => !isAtOrBelow(chat, deleted));
}

/** The elapsed time and the tokens of a run, over all its replies. */
export class RunTally {
  readonly #startedAtMs: number;
  /** Characters of earlier replies and of calls. */
  #done = 0;
  /** Characters of the current reply. */
  #reply = 0;

  constructor(startedAtMs: number) {
    this.#startedAtMs = startedAtMs;
  }

  update(state: RunState): void {
    if (state.kind === 'calling') this.#done += state.chars;
    if (state.kind !== 'writing') return;
    // The count starts at zero for each reply.
    if (state.chars < this.#reply) this.#done += this.#reply;
    this.#reply = state.chars;
  }

  get tokens(): number {
    return Math.ceil((this.#done + this.#reply) / CHARS_PER_TOKEN);
  }

  seconds(nowMs: number): number {
    return Math.max(0, Math.floor((nowMs - this.#startedAtMs) / 1000));
  }
}

export type RunState =
  | { readonly kind: 'asking'; readonly model: string }
  | { readonly kind: 'writing'; readonly chars: number }
  | { readonly kind: 'calling'; readonly name: string; readonly chars: number }
  | { readonly kind: 'waiting'; readonly ms: number; readonly reason: string };
