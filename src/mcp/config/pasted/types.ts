import type { ServerEntry } from '../serverEntry.ts';

/** A server that was found in a text. */
export interface PastedServer {
  /** As it is given or derived, made valid. Undefined if the text suggests none. */
  readonly name: string | undefined;
  /** In the fields of our setting; its variables are translated by `nameServer`. */
  readonly entry: ServerEntry;
  /** Fields that are not used. */
  readonly ignored: readonly string[];
}

export type Pasted =
  | {
      readonly kind: 'servers';
      readonly servers: readonly PastedServer[];
      /** The definitions of `${input:ID}`, as they were written. */
      readonly inputs: readonly unknown[];
      /** One sentence for each server that was left out. */
      readonly problems: readonly string[];
      /** Whether the text asks for the settings of the project. */
      readonly isForWorkspace: boolean;
    }
  | { readonly kind: 'problem'; readonly problem: PasteProblem };

export type PasteProblem =
  | { readonly kind: 'empty' | 'comments' | 'noServers' | 'userInfo' | 'toml' | 'installer' }
  | { readonly kind: 'tooLong'; readonly maxChars: number }
  | { readonly kind: 'server'; readonly reason: string }
  | { readonly kind: 'json'; readonly reason: string; readonly near?: string }
  | { readonly kind: 'quote'; readonly quote: string }
  | { readonly kind: 'shell'; readonly word: string }
  | { readonly kind: 'webPage'; readonly host: string }
  | { readonly kind: 'link' | 'address'; readonly text: string }
  | { readonly kind: 'usage'; readonly command: string; readonly missing: 'name' | 'target' };

/** Ends the reading of a text; caught by `readPasted`. */
export class PasteError extends Error {
  readonly problem: PasteProblem;

  constructor(problem: PasteProblem) {
    super(problem.kind);
    this.problem = problem;
  }
}

/** A server before its entry is checked. */
export interface RawServer {
  readonly name?: string | undefined;
  readonly entry: unknown;
}

export interface RawServers {
  readonly servers: readonly RawServer[];
  readonly inputs?: readonly unknown[];
  readonly isForWorkspace?: boolean;
}
