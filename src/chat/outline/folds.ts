import { beforeLineBreak } from '../../base/lines.ts';
import type { Chat, Turn } from '../format/chat.ts';
import type { Region } from '../format/comments.ts';

import type { TurnShapes } from './turnShape.ts';

/** Lines that can be folded away: from the one that `start` is on, which stays, to the one that `end` is on. */
export interface Fold extends Region {
  readonly kind: 'settings' | 'turn' | 'result' | 'call' | 'reasoning' | 'details';
}

/** A call or a result with more lines than this is folded at first. */
const MAX_OPEN_LINES = 15;

/** What can be folded in a chat, in order, outer ones first. */
export function planFolds(text: string, chat: Chat, shapes: TurnShapes): readonly Fold[] {
  const settings = settingsRegion(text, chat);
  const folds: Fold[] = settings ? [{ kind: 'settings', ...settings }] : [];
  for (const turn of chat.turns) {
    const end = lastLine(text, turn);
    folds.push({ kind: turn.role === 'tool' ? 'result' : 'turn', start: turn.start, end });
    // A call that was never closed has the turn's blank line too.
    for (const fold of innerFolds(text, turn, shapes)) folds.push({ ...fold, end: Math.min(fold.end, end) });
  }
  return folds;
}

/** Whether a fold of so many lines, the first one among them, is closed when it is first seen. */
export function isClosedAtFirst(kind: Fold['kind'], lines: number): boolean {
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

/** The blank line that divides two turns is left out, so that folded ones do not stick together. */
function lastLine(text: string, turn: Turn): number {
  const end = beforeLineBreak(text, turn.end);
  const newline = text.lastIndexOf('\n', end - 1);
  const isBlank = newline >= turn.start && text.slice(newline, end).trim() === '';
  return isBlank ? beforeLineBreak(text, newline + 1) : end;
}

/** A change of a text, as an editor tells it. */
export interface TextChange {
  readonly rangeOffset: number;
  readonly rangeLength: number;
  readonly text: string;
}

/** An editor that is about to look for folds again forgets what it was just told: it is told again for so long. */
const REPEAT_MS = 1500;

/** Which folds of one chat were seen already. It follows them when the text around them changes. */
export class SeenFolds {
  /** Where they begin, and until when they are new. */
  #newUntil: ReadonlyMap<number, number> = new Map();

  /** Gives back the folds that are new. One that somebody is in is known at once. */
  meet<F extends Fold>(folds: readonly F[], nowMs: number, isBusy: (fold: F) => boolean): readonly F[] {
    const newUntil = new Map(this.#newUntil);
    for (const fold of folds) {
      if (isBusy(fold)) newUntil.set(fold.start, nowMs);
      else if (!newUntil.has(fold.start)) newUntil.set(fold.start, nowMs + REPEAT_MS);
    }
    this.#newUntil = newUntil;
    return folds.filter(({ start }) => (newUntil.get(start) ?? 0) > nowMs);
  }

  /** The changes are about the same text, from its end to its beginning. */
  move(changes: readonly TextChange[]): void {
    for (const change of changes) {
      const moved = [...this.#newUntil].flatMap(([start, until]): [number, number][] => {
        const now = moveStart(start, change);
        return now === undefined ? [] : [[now, until]];
      });
      this.#newUntil = new Map(moved);
    }
  }
}

/** Where a fold begins after a change; nothing when its beginning was replaced. */
function moveStart(start: number, { rangeOffset, rangeLength, text }: TextChange): number | undefined {
  const by = text.length - rangeLength;
  if (start > rangeOffset) return start >= rangeOffset + rangeLength ? start + by : undefined;
  // What is put before the first sign of a fold moves it, if it is lines.
  const isMoved = start === rangeOffset && rangeLength === 0 && text.endsWith('\n');
  return isMoved ? start + by : start;
}
