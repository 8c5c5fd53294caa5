import { beforeLineBreak, endOfLine } from '../../base/lines.ts';
import { isSummary } from '../edits/compact.ts';
import { renderCallName, renderToolName } from '../format/calls.ts';
import type { Chat, Turn } from '../format/chat.ts';
import type { Role } from '../format/marker.ts';
import type { Region } from '../format/regions.ts';
import { settingsRegion } from './folds.ts';
import { renderedText } from './title.ts';
import type { Heading, TurnShape, TurnShapes } from './turnShape.ts';

export interface OutlineEntry extends Region {
  readonly kind: Role | 'summary' | 'settings' | 'call' | 'heading';
  /** The first words of a turn or result, a tool name, or a heading. May be empty. */
  readonly words: string;
  /** The name and id of the call, as in the file. */
  readonly call?: string;
  readonly assets?: number;
  /** The end of the entry's first line. */
  readonly nameEnd: number;
  readonly children: readonly OutlineEntry[];
}

const MAX_ARGUMENT_CHARS = 40;

/** The turns of a chat, with their calls and headings as children. */
export function planOutline(text: string, chat: Chat, shapes: TurnShapes): readonly OutlineEntry[] {
  const settings = settingsRegion(text, chat);
  const turns = chat.turns.map((turn) => turnEntry(text, turn, shapes.of(text, turn)));
  if (!settings) return turns;
  const nameEnd = Math.min(3, settings.end);
  return [{ kind: 'settings', words: '', ...settings, nameEnd, children: [] }, ...turns];
}

function turnEntry(text: string, turn: Turn, shape: TurnShape): OutlineEntry {
  const region = { start: turn.start, end: Math.max(turn.start, beforeLineBreak(text, turn.end)) };
  const nameEnd = Math.min(endOfLine(text, turn.start), region.end);
  const children = [...callEntries(text, turn), ...headingEntries(text, shape.headings, region.end)];
  const calls = turn.calls.map(renderToolName).join(', ');
  const words = shape.words ?? (calls === '' ? '' : (renderedText(calls) ?? ''));
  const result = turn.role === 'tool' ? { call: turn.words, assets: shape.assets } : {};
  return {
    kind: isSummary(turn) ? 'summary' : turn.role,
    words,
    ...result,
    ...region,
    nameEnd,
    children: nest(children.sort((a, b) => a.start - b.start)),
  };
}

function callEntries(text: string, turn: Turn): OutlineEntry[] {
  return turn.calls.map((call) => ({
    kind: 'call',
    words: renderedText(call.argumentsText.replace(/\s+/g, ' '), MAX_ARGUMENT_CHARS) ?? '',
    call: renderCallName(call),
    start: call.start,
    end: Math.max(call.start, beforeLineBreak(text, call.end)),
    nameEnd: Math.min(endOfLine(text, call.start), call.end),
    children: [],
  }));
}

/** A heading extends to the next one of the same or a higher level, or to the end of the turn. */
function headingEntries(text: string, headings: readonly Heading[], turnEnd: number): OutlineEntry[] {
  const ends = new Array<number>(headings.length).fill(turnEnd);
  const open: number[] = [];
  for (const [at, { level, start }] of headings.entries()) {
    while (open.length > 0 && (headings[open.at(-1) ?? 0]?.level ?? 0) >= level) {
      ends[open.pop() ?? 0] = beforeLineBreak(text, start);
    }
    open.push(at);
  }
  return headings.map(({ words, start }, at) => ({
    kind: 'heading',
    words,
    start,
    end: ends[at] ?? turnEnd,
    nameEnd: Math.min(endOfLine(text, start), ends[at] ?? turnEnd),
    children: [],
  }));
}

/** Nests entries, which are in order and do not overlap partially. */
function nest(entries: readonly OutlineEntry[]): readonly OutlineEntry[] {
  const top: OutlineEntry[] = [];
  const open: { readonly end: number; readonly children: OutlineEntry[] }[] = [];
  for (const entry of entries) {
    while (open.length > 0 && (open.at(-1)?.end ?? 0) <= entry.start) open.pop();
    const children: OutlineEntry[] = [];
    (open.at(-1)?.children ?? top).push({ ...entry, children });
    open.push({ end: entry.end, children });
  }
  return top;
}
