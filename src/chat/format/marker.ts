export type Role = 'system' | 'user' | 'assistant' | 'tool';

export interface Marker {
  readonly role: Role;
  /** What follows the role on its line. */
  readonly words: string;
}

const MARKER = /^# %%[ \t]+(system|user|assistant|tool_execute|tool)(?:[ \t]+(.*))?$/i;

/** Reads a line that begins a turn. Whether the line is inside fenced code is for the caller to know. */
export function readMarker(line: string): Marker | undefined {
  if (!line.startsWith('# %%')) return undefined;
  const match = MARKER.exec(line.trimEnd());
  if (!match?.[1]) return undefined;
  const word = match[1].toLowerCase();
  // Chats of chat.md call the turn of a tool `tool_execute`.
  return { role: word === 'tool_execute' ? 'tool' : (word as Role), words: match[2]?.trim() ?? '' };
}

export function renderMarker(role: Role, words = ''): string {
  return words ? `# %% ${role} ${words}` : `# %% ${role}`;
}
