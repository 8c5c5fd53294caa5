import { CHARS_PER_TOKEN, type RunState } from './costText.ts';

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
