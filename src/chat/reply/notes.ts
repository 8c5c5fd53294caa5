import { isObject } from '../../base/json.ts';
import type { ProviderMetadata } from '../../ports/models.ts';
import { NOTE_START } from '../format/fence.ts';

export const REASONING_HEAD = '<details><summary>Reasoning</summary>';
export const REASONING_FOOT = '</details>';
export const REASONING_INFO = 'reasoning';
/** Chosen before the reasoning is known: a line that begins with these backticks gets a backslash. */
export const REASONING_FENCE = '````';

/** `provider_tool web_search`: what a tool of the provider was asked for, and its result. */
export const OWN_CALL_INFO = 'provider_tool';

/** The line that is shown while the call is folded. */
export function renderOwnCallHead(name: string, query: string): string {
  const label = `${name.charAt(0).toUpperCase()}${name.slice(1)}`.replaceAll('_', ' ');
  const words = harmless(query);
  const shown =
    words.length > MAX_QUERY_CHARS ? `${words.slice(0, MAX_QUERY_CHARS - 1).toWellFormed()}…` : words;
  return `<details><summary>${label}${shown && `: ${shown}`}</summary>`;
}

const MAX_QUERY_CHARS = 100;

const CLOSED = /^<!-- filechat:closed (\d{1,2}) -->[ \t]*$/;
/** A closing fence, then fences that are opened and closed, or the end of a formula. */
const CLOSING = /^(?:(?:`{3,}|~{3,})\n)?(?:(?:(`{4,}|~{4,})end\n\1|\$\$ \$\$)\n)*$/;

/** Marks the lines that close open code as added by Filechat. */
export function closeWithNote(lines: readonly string[]): string {
  return [...lines, `${NOTE_START}closed ${lines.length} -->`].join('\n');
}

/**
 * The number of trailing lines that consist of such a note and the lines it describes; 0 without a note. If these
 * lines were edited, only the note counts, because the others may be the user's.
 */
export function countClosingLines(lines: readonly string[]): number {
  const count = CLOSED.exec(lines.at(-1) ?? '')?.[1];
  if (count === undefined) return 0;
  const closing = lines.slice(0, -1).slice(-Number(count));
  const isOurs = closing.length === Number(count) && CLOSING.test(`${closing.join('\n')}\n`);
  return isOurs ? closing.length + 1 : 1;
}

/** Why an assistant turn is incomplete: it is being written, or was interrupted. */
export type Cut =
  | { readonly kind: 'writing'; readonly id: string }
  /** `inCode`: the reply ended in open code, and the line above the note closes it. */
  | { readonly kind: 'interrupted'; readonly reason: string; readonly inCode: boolean };

const CUT = /^<!-- filechat:(?:writing ([A-Za-z0-9]+)|interrupted (code: )?(.*?)) -->/;

/** Reads a line that marks a turn as incomplete. Text after the note is ignored. */
export function readCut(line: string): Cut | undefined {
  const [note, id, code, reason = ''] = CUT.exec(line) ?? [];
  if (note === undefined) return undefined;
  return id === undefined
    ? { kind: 'interrupted', reason, inCode: code !== undefined }
    : { kind: 'writing', id };
}

export function renderCut(cut: Cut): string {
  if (cut.kind === 'writing') return `${NOTE_START}writing ${cut.id} -->`;
  // A reason may come from a server: keep it on one line, inside the comment.
  const reason = harmless(cut.reason);
  return `${NOTE_START}interrupted ${cut.inCode ? 'code: ' : ''}${reason || 'stopped'} -->`;
}

const MAX_REPAIRS = 10;

/** Says below a call that its arguments were changed. Names of arguments come from models and servers. */
export function renderRepairs(repairs: readonly string[]): string {
  const more = repairs.length > MAX_REPAIRS ? [`${repairs.length - MAX_REPAIRS} more`] : [];
  const shown = [...repairs.slice(0, MAX_REPAIRS), ...more].map(harmless).join('; ');
  return `${NOTE_START}repaired ${shown} -->`;
}

/** One line that cannot end the comment. */
function harmless(text: string): string {
  return text
    .replace(/[^\p{L}\p{N}\p{P} ]|-{2,}|[<>]/gu, ' ')
    .replace(/ +/g, ' ')
    .trim()
    .slice(0, MAX_NOTE_CHARS);
}

const MAX_NOTE_CHARS = 200;

/** Metadata that a provider needs back with a part, in a comment below the part. */
export interface MetadataNote {
  /** The checksum of its reasoning; empty if it belongs to no text. */
  readonly of?: string;
  readonly metadata: ProviderMetadata;
}

const NOTE = /^<!-- filechat:metadata (\{.*\}) -->[ \t]*$/;

/** One line of ASCII that cannot end the comment. */
export function renderMetadata({ of, metadata }: MetadataNote): string {
  const json = JSON.stringify(of === undefined ? metadata : { of, ...metadata })
    .replace(/[^ -~]+/g, escapeUnits)
    .replace(/-(?=-)/g, '\\u002d');
  return `${NOTE_START}metadata ${json} -->`;
}

/** Writes each UTF-16 unit as a JSON escape. */
export function escapeUnits(text: string): string {
  return text.replace(/[\s\S]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`);
}

/** Returns `undefined` if the line is not a metadata note or was damaged. */
export function readMetadata(line: string): MetadataNote | undefined {
  const json = NOTE.exec(line)?.[1];
  if (json === undefined) return undefined;
  try {
    const { of, ...rest } = JSON.parse(json) as Record<string, unknown>;
    const known = Object.entries(rest).filter((entry): entry is [string, Record<string, unknown>] =>
      isObject(entry[1]),
    );
    return { ...(typeof of === 'string' ? { of } : {}), metadata: Object.fromEntries(known) };
  } catch {
    return undefined;
  }
}

export function mergeMetadata(a: ProviderMetadata | undefined, b: ProviderMetadata): ProviderMetadata {
  const merged: Record<string, Readonly<Record<string, unknown>>> = { ...a };
  for (const [provider, values] of Object.entries(b)) merged[provider] = { ...merged[provider], ...values };
  return merged;
}
