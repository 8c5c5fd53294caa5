import type { FromPage } from '../messages.ts';
import type { readQuery } from '../query.ts';

/** What the editor gives to a page. */
export interface EditorApi {
  postMessage(message: FromPage): void;
  getState(): unknown;
  setState(state: unknown): void;
}

/** What a page keeps for the time when it is shown again. */
export interface Kept {
  readonly query: ReturnType<typeof readQuery>;
  readonly active?: string;
  readonly chosen: readonly string[];
  readonly top: number;
}
