import type { Cut } from '../reply/notes.ts';
import type { SentMark, WrittenCall } from './callInfo.ts';

export interface Chat {
  readonly frontMatter?: string;
  readonly frontMatterStart?: number;
  /** The `key=value` lines of chat.md above the first marker. */
  readonly preamble?: string;
  readonly preambleStart?: number;
  readonly turns: readonly Turn[];
  readonly problems: readonly ChatProblem[];
  /** The last turn leaves a code fence open, so appended text would be code. */
  readonly endsInFence: boolean;
}

export interface Turn {
  readonly role: Role;
  /** The text after the role on the marker line. For results of chat.md, the parser fills in the name of the call. */
  readonly markerText: string;
  readonly start: number;
  readonly bodyStart: number;
  /** The start of the next turn, or the end of the file. */
  readonly end: number;
  /** Always empty for tool turns. */
  readonly calls: readonly WrittenCall[];
  /** Set if an assistant turn is incomplete. */
  readonly cut?: Cut;
  /** Marks of calls that were sent and may not have a result yet. */
  readonly sent?: readonly SentMark[];
}

export interface ChatProblem {
  readonly offset: number;
  readonly message: string;
  /** The model or the allowed tools are unclear. Stop the run; do not fall back to a default. */
  readonly stopsRun?: boolean;
}

export type Role = 'system' | 'user' | 'assistant' | 'tool';

export interface Marker {
  readonly role: Role;
  /** The text after the role. */
  readonly markerText: string;
}

const MARKER = /^# %%[ \t]+(system|user|assistant|tool_execute|tool)(?:[ \t]+(.*))?$/i;

/** Reads the first line of a turn. The caller checks that the line is not in fenced code. */
export function readMarker(line: string): Marker | undefined {
  if (!line.startsWith('# %%')) return undefined;
  const match = MARKER.exec(line.trimEnd());
  if (!match?.[1]) return undefined;
  const word = match[1].toLowerCase();
  // chat.md calls tool turns `tool_execute`.
  return { role: word === 'tool_execute' ? 'tool' : (word as Role), markerText: match[2]?.trim() ?? '' };
}

export function renderMarker(role: Role, markerText = ''): string {
  return markerText ? `# %% ${role} ${markerText}` : `# %% ${role}`;
}
