import { beforeLineBreak } from '../../base/lines.ts';
import type { Chat, Turn } from '../format/chat.ts';
import type { Region } from '../format/regions.ts';
import type { TurnShapes } from './turnShape.ts';

/** From the line of `start`, which stays visible, to the line of `end`. */
export interface Fold extends Region {
  readonly kind: 'settings' | 'turn' | 'result' | 'call' | 'reasoning' | 'details';
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
  if (kind === 'reasoning') return lines > 1;
  return (kind === 'result' || kind === 'call') && lines > MAX_OPEN_LINES;
}

/** The front matter with its dashes. */
export function settingsRegion(text: string, chat: Chat): Region | undefined {
  if (chat.frontMatter === undefined || chat.frontMatterStart === undefined) return undefined;
  const dashes = chat.frontMatterStart + chat.frontMatter.length;
  const newline = text.indexOf('\n', dashes);
  return { start: 0, end: newline < 0 ? text.length : newline };
}

function innerFolds(text: string, turn: Turn, shapes: TurnShapes): readonly Fold[] {
  const calls = turn.calls.map(
    ({ start, end }): Fold => ({ kind: 'call', start, end: beforeLineBreak(text, end) }),
  );
  const details = shapes
    .of(text, turn)
    .details.map(
      ({ isReasoning, start, end }): Fold => ({ kind: isReasoning ? 'reasoning' : 'details', start, end }),
    );
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

/** The editor forgets folds while it recomputes them, so they are reported as new for this long. */
const REPEAT_MS = 1500;

/** Tracks which folds of a chat were already seen, across edits. */
export class SeenFolds {
  /** By start offset: the time until which a fold is reported as new. */
  #newUntil: ReadonlyMap<number, number> = new Map();

  /** Returns the new folds. A busy fold counts as seen immediately. */
  takeNew<F extends Fold>(folds: readonly F[], nowMs: number, isBusy: (fold: F) => boolean): readonly F[] {
    const newUntil = new Map(this.#newUntil);
    for (const fold of folds) {
      if (isBusy(fold)) newUntil.set(fold.start, nowMs);
      else if (!newUntil.has(fold.start)) newUntil.set(fold.start, nowMs + REPEAT_MS);
    }
    this.#newUntil = newUntil;
    return folds.filter(({ start }) => (newUntil.get(start) ?? 0) > nowMs);
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
