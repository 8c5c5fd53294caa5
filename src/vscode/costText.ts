import { describeCost, describeCount } from '../model/usage.ts';
import type { ChatTotal, SpentTurn } from './chatTotals.ts';

/** What the next request would be. */
export interface NextRequest {
  readonly model?: string | undefined;
  readonly tokens: number;
  readonly dollars?: number | undefined;
}

/** What a running chat does now, as its turn loop tells it. */
export type RunState =
  | { readonly kind: 'asking'; readonly model: string }
  | { readonly kind: 'writing'; readonly chars: number }
  | { readonly kind: 'calling'; readonly name: string; readonly chars: number }
  | { readonly kind: 'waiting'; readonly ms: number; readonly reason: string };

export interface RunView {
  readonly elapsedMs: number;
  readonly model?: string | undefined;
  /** Nothing while it works on something else than a reply. */
  readonly state?: RunState | undefined;
}

export interface CostView {
  readonly next?: NextRequest | undefined;
  readonly total?: ChatTotal | undefined;
  readonly run?: RunView | undefined;
}

/** `$(comment-discussion) next ≈1.2k tokens, $0.0040 · so far $0.12`, or what runs. */
export function costLine(view: CostView): string {
  return view.run ? runLine(view.run) : idleLine(view);
}

/** Markdown in which no name can be more than text. */
export function costTooltip({ next, total, run }: CostView): string {
  const waiting = run?.state?.kind === 'waiting' ? [`Waiting: ${plain(run.state.reason)}`] : [];
  const asked = next ? [nextSentence(next)] : [];
  const used = total ? [totalSentence(total), turnTable(total)] : ['No model has answered in this chat yet.'];
  return [...waiting, ...asked, ...used, 'Click to see what will be sent, and to leave something out.'].join(
    '\n\n',
  );
}

/** Close enough for a figure that grows while one looks at it. */
const CHARS_PER_TOKEN = 4;

function runLine({ elapsedMs, model, state }: RunView): string {
  if (state?.kind === 'waiting')
    return `$(watch) trying again in ${Math.max(0, Math.ceil(state.ms / 1000))} s`;
  const parts = [icons(model ?? 'running'), describeElapsed(elapsedMs), ...describeState(state)];
  return `$(sync~spin) ${parts.join(' · ')}`;
}

function describeState(state: RunState | undefined): readonly string[] {
  if (state?.kind === 'asking') return ['waiting for the first words'];
  if (state?.kind === 'calling') return [`writes a call of ${icons(state.name)}`];
  if (state?.kind !== 'writing') return [];
  return [`≈${describeCount(Math.ceil(state.chars / CHARS_PER_TOKEN))} tokens`];
}

function describeElapsed(ms: number): string {
  const seconds = Math.max(0, Math.floor(ms / 1000));
  if (seconds < 60) return `${seconds} s`;
  return `${Math.floor(seconds / 60)} min ${String(seconds % 60).padStart(2, '0')} s`;
}

function idleLine({ next, total }: CostView): string {
  const parts = [
    ...(next && next.tokens > 0 ? [describeNext(next)] : []),
    ...(total ? [`so far ${describeSpent(total)}`] : []),
  ];
  return `$(comment-discussion) ${parts.length === 0 ? 'Filechat' : parts.join(' · ')}`;
}

function describeNext({ tokens, dollars }: NextRequest): string {
  const price = dollars === undefined ? '' : `, ${describeCost(dollars)}`;
  return `next ≈${describeCount(tokens)} tokens${price}`;
}

/** Money where it is known; where it is known for some turns only, at least that. */
function describeSpent({ dollars, unpriced, count, tokens }: ChatTotal): string {
  if (unpriced === count) return `${describeCount(tokens)} tokens`;
  return `${unpriced > 0 ? '≥ ' : ''}${describeCost(dollars)}`;
}

function nextSentence({ model, tokens, dollars }: NextRequest): string {
  const price = dollars === undefined ? '' : `, about ${describeCost(dollars)} without the answer`;
  const to = model === undefined ? '' : ` to ${plain(model)}`;
  return `The next request${to} has about ${describeCount(tokens)} tokens${price}.`;
}

function totalSentence(total: ChatTotal): string {
  const { count, tokens, unpriced, dollars } = total;
  const answers = count === 1 ? '1 answer' : `${count} answers`;
  if (unpriced === count) return `So far: ${answers}, ${describeCount(tokens)} tokens.`;
  const missing = unpriced > 0 ? ` and ${unpriced} of unknown price` : '';
  return `So far: ${answers}, ${describeCount(tokens)} tokens, ${describeCost(dollars)}${missing}.`;
}

function turnTable({ turns, count }: ChatTotal): string {
  const rows = turns.map((turn, at) => turnRow(turn, count - turns.length + at + 1));
  return ['| # | model | in | out | cost |', '|-:|:-|-:|-:|-:|', ...rows].join('\n');
}

function turnRow({ model, usage, dollars }: SpentTurn, number: number): string {
  const { input, output, cachedInput = 0 } = usage;
  const cached = cachedInput > 0 ? ` (${describeCount(cachedInput)} cached)` : '';
  const cells = [
    String(number),
    plain(model),
    input === undefined ? '?' : `${describeCount(input)}${cached}`,
    output === undefined ? '?' : describeCount(output),
    dollars === undefined ? '?' : describeCost(dollars),
  ];
  return `| ${cells.join(' | ')} |`;
}

const MAX_NAME_CHARS = 80;

function plain(text: string): string {
  const line = text.replace(/\s+/g, ' ').trim();
  const cut = line.length > MAX_NAME_CHARS ? `${line.slice(0, MAX_NAME_CHARS).toWellFormed()}…` : line;
  return cut.replace(/[\\`*_{}[\]()<>#+!|~&$:]/g, '\\$&');
}

/** In the status bar only `$(…)` means something. */
function icons(name: string): string {
  const line = name.replace(/\s+/g, ' ').replaceAll('$(', '$ (');
  return line.length > MAX_NAME_CHARS ? `${line.slice(0, MAX_NAME_CHARS).toWellFormed()}…` : line;
}
