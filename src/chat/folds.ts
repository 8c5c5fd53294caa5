import type { Region } from './comments.ts';
import { beforeLineBreak } from './lines.ts';
import type { Chat, Turn } from './parse.ts';
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

/** Which folds of one chat were seen already. It follows them when the text around them changes. */
export class SeenFolds {
  #starts: ReadonlySet<number> = new Set();

  /** Folds that are new here are given back, and known from now on. */
  meet<F extends Fold>(folds: readonly F[]): readonly F[] {
    const fresh = folds.filter(({ start }) => !this.#starts.has(start));
    if (fresh.length > 0) this.#starts = new Set([...this.#starts, ...fresh.map(({ start }) => start)]);
    return fresh;
  }

  /** The changes are about the same text, from its end to its beginning. */
  move(changes: readonly TextChange[]): void {
    let starts = [...this.#starts];
    for (const { rangeOffset, rangeLength, text } of changes) {
      const end = rangeOffset + rangeLength;
      const by = text.length - rangeLength;
      starts = starts.flatMap((start) => {
        if (start >= end && start !== rangeOffset) return [start + by];
        if (start > rangeOffset) return [];
        // What is put before the first sign of a fold moves it, if it is lines.
        const isMoved = start === rangeOffset && rangeLength === 0 && text.endsWith('\n');
        return [isMoved ? start + by : start];
      });
    }
    this.#starts = new Set(starts);
  }
}
