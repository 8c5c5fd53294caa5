import type { Cut } from '../reply/notes.ts';
import type { SentMark, WrittenCall } from './calls.ts';
import type { Role } from './marker.ts';

export interface Chat {
  /** The text between the `---` lines at the top. */
  readonly frontMatter?: string;
  readonly frontMatterStart?: number;
  /** The lines `key=value` above the first marker, as chat.md has them. */
  readonly preamble?: string;
  readonly preambleStart?: number;
  readonly turns: readonly Turn[];
  readonly problems: readonly Problem[];
  /** True when the last turn leaves a code fence open: whatever is appended would be code. */
  readonly endsInFence: boolean;
}

export interface Turn {
  readonly role: Role;
  /** What follows the role on the marker's line. A result of chat.md has the name of its call here. */
  readonly words: string;
  readonly start: number;
  readonly bodyStart: number;
  /** Where the next turn begins, or the file ends. */
  readonly end: number;
  /** The calls of a user or an assistant; a tool's text holds none, whatever it looks like. */
  readonly calls: readonly WrittenCall[];
  /** An assistant's turn that is not whole, or not yet. */
  readonly cut?: Cut;
  /** Which of the calls were sent and may have no result yet. */
  readonly sent?: readonly SentMark[];
}

export interface Problem {
  readonly offset: number;
  readonly message: string;
  /** A setting that says which model or which tools, and cannot be read: nobody should be asked instead. */
  readonly stopsRun?: boolean;
}
