import { CHARS_PER_TOKEN } from '../../base/size.ts';
import type { Usage } from '../../ports/models.ts';

/** One answer of a model, and what it took. */
export interface SpentTurn {
  readonly model: string;
  readonly usage: Usage;
  /** Nothing when the price is not known. */
  readonly dollars?: number | undefined;
}

export interface ChatTotal {
  /** The chat's URI. */
  readonly chat: string;
  readonly count: number;
  readonly tokens: number;
  /** Of the turns whose price is known. */
  readonly dollars: number;
  readonly unpriced: number;
  /** The last ones. */
  readonly turns: readonly SpentTurn[];
}

/** The chat that was used last comes last. */
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

/** Whatever had the new name before is gone. */
export function renameChats(totals: ChatTotals, from: string, to: string): ChatTotals {
  const renamed = totals.map((total) => ({ ...total, chat: renamedChat(total.chat, from, to) }));
  const moved = new Set(renamed.filter(({ chat }, at) => chat !== totals[at]?.chat).map(({ chat }) => chat));
  return renamed.filter(({ chat }, at) => chat !== totals[at]?.chat || !moved.has(chat));
}

/** A new chat may get the name of one that was deleted, or of one in a folder that was. */
export function forgetChats(totals: ChatTotals, deleted: string): ChatTotals {
  return totals.filter(({ chat }) => !isIn(chat, deleted));
}

/** Where a chat is when a file, or a folder somewhere above it, has another name. */
export function renamedChat(chat: string, from: string, to: string): string {
  return isIn(chat, from) ? to + chat.slice(from.length) : chat;
}

function isIn(chat: string, place: string): boolean {
  return chat === place || chat.startsWith(`${place}/`);
}

/** How long a run lasts and how much has come, over all its replies. */
export class RunTally {
  readonly #startedAtMs: number;
  /** Of the replies before this one, and of the calls that were written. */
  #done = 0;
  #reply = 0;

  constructor(startedAtMs: number) {
    this.#startedAtMs = startedAtMs;
  }

  take(told: RunState): void {
    if (told.kind === 'calling') {
      this.#done += told.chars;
    } else if (told.kind === 'writing') {
      // The count of a reply begins anew with the next one.
      if (told.chars < this.#reply) this.#done += this.#reply;
      this.#reply = told.chars;
    }
  }

  get tokens(): number {
    return Math.ceil((this.#done + this.#reply) / CHARS_PER_TOKEN);
  }

  seconds(nowMs: number): number {
    return Math.max(0, Math.floor((nowMs - this.#startedAtMs) / 1000));
  }
}

/** What a running chat does now, as its turn loop tells it. */
export type RunState =
  | { readonly kind: 'asking'; readonly model: string }
  | { readonly kind: 'writing'; readonly chars: number }
  | { readonly kind: 'calling'; readonly name: string; readonly chars: number }
  | { readonly kind: 'waiting'; readonly ms: number; readonly reason: string };
