import { beforeLineBreak, endOfLine } from '../../base/lines.ts';
import { isSummary } from '../edits/leaveOut.ts';
import { renderCallName, renderToolName } from '../format/callInfo.ts';
import type { Chat, Role, Turn } from '../format/chat.ts';
import type { Region } from '../format/textEdit.ts';
import { renderedText } from './title.ts';
import type { Heading, TurnShape, TurnShapes } from './turnShape.ts';

export interface OutlineEntry extends Region {
  readonly kind: Role | 'summary' | 'settings' | 'call' | 'heading';
  /** The beginning of a turn, result or arguments, or a heading. May be empty. */
  readonly label: string;
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
  return [{ kind: 'settings', label: '', ...settings, nameEnd, children: [] }, ...turns];
}

function turnEntry(text: string, turn: Turn, shape: TurnShape): OutlineEntry {
  // The last turn includes the line after its last line break, where the user writes.
  const end = turn.end === text.length ? turn.end : beforeLineBreak(text, turn.end);
  const region = { start: turn.start, end: Math.max(turn.start, end) };
  const nameEnd = Math.min(endOfLine(text, turn.start), region.end);
  const children = [...callEntries(text, turn), ...headingEntries(text, shape.headings, region.end)];
  const calls = turn.calls.map(renderToolName).join(', ');
  const label = shape.label ?? (calls === '' ? '' : (renderedText(calls) ?? ''));
  const result = turn.role === 'tool' ? { call: turn.markerText, assets: shape.assets } : {};
  return {
    kind: isSummary(turn) ? 'summary' : turn.role,
    label,
    ...result,
    ...region,
    nameEnd,
    children: nest(children.sort((a, b) => a.start - b.start)),
  };
}

function callEntries(text: string, turn: Turn): OutlineEntry[] {
  return turn.calls.map((call) => ({
    kind: 'call',
    label: renderedText(call.argumentsText.replace(/\s+/g, ' '), MAX_ARGUMENT_CHARS) ?? '',
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
  return headings.map(({ label, start }, at) => ({
    kind: 'heading',
    label,
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

/** From the line of `start`, which stays visible, to the line of `end`. */
export interface Fold extends Region {
  readonly kind: 'settings' | 'turn' | 'result' | 'call' | 'reasoning' | 'ownCall' | 'details';
}

/** Longer calls and results are folded initially. */
const MAX_OPEN_LINES = 15;

/** In order, outer folds first. */
export function planFolds(text: string, chat: Chat, shapes: TurnShapes): readonly Fold[] {
  const settings = settingsRegion(text, chat);
  const folds: Fold[] = settings ? [{ kind: 'settings', ...settings }] : [];
  for (const turn of chat.turns) {
    const end = lastLine(text, turn);
    folds.push({ kind: turn.role === 'tool' ? 'result' : 'turn', start: turn.start, end });
    // An unclosed call includes the blank line at the end of the turn.
    for (const fold of innerFolds(text, turn, shapes)) folds.push({ ...fold, end: Math.min(fold.end, end) });
  }
  return folds;
}

/** `lines` includes the first line. */
export function isFoldedInitially(kind: Fold['kind'], lines: number): boolean {
  if (kind === 'reasoning' || kind === 'ownCall') return lines > 1;
  return (kind === 'result' || kind === 'call') && lines > MAX_OPEN_LINES;
}

/** The front matter with its dashes. */
function settingsRegion(text: string, chat: Chat): Region | undefined {
  if (chat.frontMatter === undefined || chat.frontMatterStart === undefined) return undefined;
  const dashes = chat.frontMatterStart + chat.frontMatter.length;
  const newline = text.indexOf('\n', dashes);
  return { start: 0, end: newline < 0 ? text.length : newline };
}

function innerFolds(text: string, turn: Turn, shapes: TurnShapes): readonly Fold[] {
  const calls = turn.calls.map(
    ({ start, end }): Fold => ({ kind: 'call', start, end: beforeLineBreak(text, end) }),
  );
  const details = shapes.of(text, turn).details.map(({ kind, start, end }): Fold => ({ kind, start, end }));
  return [...calls, ...details].sort((a, b) => a.start - b.start || b.end - a.end);
}

/** Leaves out the blank line between turns, so that folded turns stay separate. */
function lastLine(text: string, turn: Turn): number {
  const end = beforeLineBreak(text, turn.end);
  const newline = text.lastIndexOf('\n', end - 1);
  const isBlank = newline >= turn.start && text.slice(newline, end).trim() === '';
  return isBlank ? beforeLineBreak(text, newline + 1) : end;
}

interface TextChange {
  readonly rangeOffset: number;
  readonly rangeLength: number;
  readonly text: string;
}

/** VS Code may ignore a request to fold while it computes ranges, so a fold is reported as new for this long. */
const REPEAT_MS = 1500;

/** Tracks which folds of a chat were already seen, across edits. */
export class SeenFolds {
  /** By start offset: the time until which a fold is reported as new. */
  #newUntil: ReadonlyMap<number, number> = new Map();

  /** Returns the new folds. A fold that is still being written counts as seen immediately. */
  takeNew<F extends Fold>(
    folds: readonly F[],
    nowMs: number,
    isBeingWritten: (fold: F) => boolean,
  ): readonly F[] {
    const newUntil = new Map(this.#newUntil);
    for (const fold of folds) {
      if (isBeingWritten(fold)) newUntil.set(fold.start, nowMs);
      else if (!newUntil.has(fold.start)) newUntil.set(fold.start, nowMs + REPEAT_MS);
    }
    this.#newUntil = newUntil;
    return folds.filter(({ start }) => (newUntil.get(start) ?? 0) > nowMs);
  }

  /** Stops reporting folds that have been closed, so that a fold that the user opens again stays open. */
  settle(nowMs: number, isClosed: (start: number) => boolean): void {
    const settled = [...this.#newUntil].filter(([start, until]) => until > nowMs && isClosed(start));
    if (settled.length === 0) return;
    this.#newUntil = new Map([...this.#newUntil, ...settled.map(([start]) => [start, nowMs] as const)]);
  }

  /** The changes apply to the same text, in descending order. */
  applyChanges(changes: readonly TextChange[]): void {
    for (const change of changes) {
      const moved = [...this.#newUntil].flatMap(([start, until]): [number, number][] => {
        const now = moveStart(start, change);
        return now === undefined ? [] : [[now, until]];
      });
      this.#newUntil = new Map(moved);
    }
  }
}

/** The start of a fold after a change; `undefined` if it was replaced. */
function moveStart(start: number, { rangeOffset, rangeLength, text }: TextChange): number | undefined {
  const by = text.length - rangeLength;
  if (start > rangeOffset) return start >= rangeOffset + rangeLength ? start + by : undefined;
  // Whole lines inserted before a fold move it.
  const isMoved = start === rangeOffset && rangeLength === 0 && text.endsWith('\n');
  return isMoved ? start + by : start;
}
