export type Role = 'system' | 'user' | 'assistant' | 'tool';

export interface Marker {
  readonly role: Role;
  /** The text after the role. */
  readonly words: string;
}

const MARKER = /^# %%[ \t]+(system|user|assistant|tool_execute|tool)(?:[ \t]+(.*))?$/i;

/** Reads the first line of a turn. The caller checks that the line is not in fenced code. */
export function readMarker(line: string): Marker | undefined {
  if (!line.startsWith('# %%')) return undefined;
  const match = MARKER.exec(line.trimEnd());
  if (!match?.[1]) return undefined;
  const word = match[1].toLowerCase();
  // chat.md calls tool turns `tool_execute`.
  return { role: word === 'tool_execute' ? 'tool' : (word as Role), words: match[2]?.trim() ?? '' };
}

export function renderMarker(role: Role, words = ''): string {
  return words ? `# %% ${role} ${words}` : `# %% ${role}`;
}
