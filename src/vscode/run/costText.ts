import { CHARS_PER_TOKEN } from '../../base/size.ts';
import { describeCost, describeCount } from '../../model/config/prices.ts';
import type { Usage } from '../../ports/models.ts';
import { plainMarkdown } from '../annotations/toolHover.ts';
import { isAtOrBelow, renamedPath } from '../chat/paths.ts';
import { describeSeconds, truncate } from '../ui/plainMessage.ts';
import { t } from '../ui/words.ts';

export interface NextRequest {
  readonly model?: string | undefined;
  readonly tokens: number;
  readonly dollars?: number | undefined;
}

interface RunView {
  readonly seconds: number;
  /** Of the whole run so far. */
  readonly tokens?: number | undefined;
  readonly model?: string | undefined;
  readonly state?: RunState | undefined;
}

export interface CostView {
  /** The name of the model that would answer next. */
  readonly model?: string | undefined;
  readonly next?: NextRequest | undefined;
  readonly total?: ChatTotal | undefined;
  readonly run?: RunView | undefined;
}

/** The model's name, or the progress of a run. */
export function costLine({ run, model }: CostView): string {
  return run ? runLine(run) : `$(hubot) ${withoutIcons(model ?? t('Select a model'))}`;
}

/** Markdown, with all names escaped. */
export function costTooltip({ next, total, run }: CostView): string {
  const waiting =
    run?.state?.kind === 'waiting'
      ? [t('Waiting: {0}', plainMarkdown(run.state.reason, MAX_REASON_CHARS))]
      : [];
  const asked = next ? [nextSentence(next)] : [];
  const used = total ? [totalSentence(total), turnTable(total)] : [t('No usage recorded for this chat yet.')];
  return [...waiting, ...asked, ...used, t('Click for the model, tokens, cost, servers and the log.')].join(
    '\n\n',
  );
}

function runLine(run: RunView): string {
  if (run.state?.kind === 'waiting') return `$(watch) ${runFigures(run)}`;
  return `$(sync~spin) ${withoutIcons(run.model ?? t('running'))} · ${runFigures(run)}`;
}

/** How long a run has taken, and what it does now. */
export function runFigures({ seconds, state, tokens = 0 }: RunView): string {
  if (state?.kind === 'waiting') return t('retrying in {0} s', Math.max(0, Math.ceil(state.ms / 1000)));
  return [describeSeconds(seconds), ...describeState(state, tokens)].join(' · ');
}

function describeState(state: RunState | undefined, tokens: number): readonly string[] {
  if (state?.kind === 'asking') return [t('waiting for the response')];
  if (state?.kind === 'calling') return [t('writing a call to {0}', withoutIcons(state.name))];
  if (state?.kind !== 'writing') return [];
  return [t('≈{0} tokens', describeCount(tokens))];
}

export function describeNext({ tokens, dollars }: NextRequest): string {
  return dollars === undefined
    ? t('≈{0} tokens', describeCount(tokens))
    : t('≈{0} tokens, {1}', describeCount(tokens), describeCost(dollars));
}

/** The cost, or a lower bound if some prices are unknown, or the tokens if all are. */
export function describeSpent({ dollars, unpriced, count, tokens }: ChatTotal): string {
  if (unpriced === count) return t('{0} tokens', describeCount(tokens));
  return `${unpriced > 0 ? '≥ ' : ''}${describeCost(dollars)}`;
}

function nextSentence({ model, tokens, dollars }: NextRequest): string {
  const size =
    dollars === undefined
      ? t('{0} tokens', describeCount(tokens))
      : t('{0} tokens, about {1} without the reply', describeCount(tokens), describeCost(dollars));
  return model === undefined
    ? t('The next request has about {0}.', size)
    : t('The next request to {0} has about {1}.', plain(model), size);
}

function totalSentence(total: ChatTotal): string {
  const { count, tokens, unpriced, dollars } = total;
  const answers = count === 1 ? t('1 reply') : t('{0} replies', count);
  const size = describeCount(tokens);
  if (unpriced === count) return t('So far: {0}, {1} tokens.', answers, size);
  const cost = describeCost(dollars);
  return unpriced === 0
    ? t('So far: {0}, {1} tokens, {2}.', answers, size, cost)
    : t('So far: {0}, {1} tokens, {2} and {3} of unknown price.', answers, size, cost, unpriced);
}

/** One row for each of the last replies. */
export function describeTurns({ turns, count }: ChatTotal) {
  return turns.map(({ model, usage, dollars }, at) => {
    const { input, output } = usage;
    const tokens = t(
      '{0} tokens in, {1} out',
      input === undefined ? '?' : describeCount(input),
      output === undefined ? '?' : describeCount(output),
    );
    const cost = dollars === undefined ? [] : [describeCost(dollars)];
    return {
      label: `${count - turns.length + at + 1}. ${withoutIcons(model)}`,
      description: [tokens, ...cost].join(' · '),
    };
  });
}

function turnTable({ turns, count }: ChatTotal): string {
  const rows = turns.map((turn, at) => turnRow(turn, count - turns.length + at + 1));
  return [t('| # | model | in | out | cost |'), '|-:|:-|-:|-:|-:|', ...rows].join('\n');
}

function turnRow({ model, usage, dollars }: SpentTurn, number: number): string {
  const { input, output, cachedInput = 0 } = usage;
  const cached = cachedInput > 0 ? ` ${t('({0} cached)', describeCount(cachedInput))}` : '';
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
const MAX_REASON_CHARS = 1000;

function plain(text: string): string {
  return plainMarkdown(text, MAX_NAME_CHARS);
}

/** Escapes `$(…)`, which is an icon in the status bar. */
function withoutIcons(name: string): string {
  return truncate(name.replace(/\s+/g, ' ').replaceAll('$(', '$ ('), MAX_NAME_CHARS);
}

export interface SpentTurn {
  readonly model: string;
  readonly usage: Usage;
  /** Undefined if the price is unknown. */
  readonly dollars?: number | undefined;
}

interface ChatTotal {
  readonly chat: string;
  readonly count: number;
  readonly tokens: number;
  /** Of the turns with a known price. */
  readonly dollars: number;
  readonly unpriced: number;
  readonly turns: readonly SpentTurn[];
}

/** The most recently used chat is the last. */
export type ChatTotals = readonly ChatTotal[];

const MAX_CHATS = 200;
const MAX_TURNS = 20;

export function addTurn(totals: ChatTotals, chat: string, turn: SpentTurn): ChatTotals {
  const before = findTotal(totals, chat);
  const after: ChatTotal = {
    chat,
    count: (before?.count ?? 0) + 1,
    tokens: (before?.tokens ?? 0) + (turn.usage.input ?? 0) + (turn.usage.output ?? 0),
    dollars: (before?.dollars ?? 0) + (turn.dollars ?? 0),
    unpriced: (before?.unpriced ?? 0) + (turn.dollars === undefined ? 1 : 0),
    turns: [...(before?.turns ?? []), turn].slice(-MAX_TURNS),
  };
  return [...totals.filter((each) => each.chat !== chat), after].slice(-MAX_CHATS);
}

export function findTotal(totals: ChatTotals, chat: string): ChatTotal | undefined {
  return totals.find((each) => each.chat === chat);
}

/** A chat that had the new name before was overwritten. */
export function renameChats(totals: ChatTotals, from: string, to: string): ChatTotals {
  const renamed = totals.map((total) => ({
    ...total,
    chat: renamedPath(total.chat, from, to) ?? total.chat,
  }));
  const moved = new Set(renamed.filter(({ chat }, at) => chat !== totals[at]?.chat).map(({ chat }) => chat));
  return renamed.filter(({ chat }, at) => chat !== totals[at]?.chat || !moved.has(chat));
}

/** A new chat can get the name of a deleted one. */
export function forgetChats(totals: ChatTotals, deleted: string): ChatTotals {
  return totals.filter(({ chat }) => !isAtOrBelow(chat, deleted));
}

/** The progress of a run, over all its replies. */
export class RunTally implements RunView {
  readonly #nowMs: () => number;
  readonly #startedAtMs: number;
  model: string | undefined;
  state: RunState | undefined;
  /** Characters of earlier replies and of calls. */
  #done = 0;
  /** Characters of the current reply. */
  #reply = 0;

  constructor(nowMs = () => performance.now()) {
    this.#nowMs = nowMs;
    this.#startedAtMs = nowMs();
  }

  update(state: RunState): void {
    this.state = state;
    if (state.kind === 'asking') this.model = state.model;
    if (state.kind === 'calling') this.#done += state.chars;
    if (state.kind !== 'writing') return;
    // The count starts at zero for each reply.
    if (state.chars < this.#reply) this.#done += this.#reply;
    this.#reply = state.chars;
  }

  get tokens(): number {
    return Math.ceil((this.#done + this.#reply) / CHARS_PER_TOKEN);
  }

  get seconds(): number {
    return Math.max(0, Math.floor((this.#nowMs() - this.#startedAtMs) / 1000));
  }
}

type RunState =
  | { readonly kind: 'asking'; readonly model: string }
  | { readonly kind: 'writing'; readonly chars: number }
  | { readonly kind: 'calling'; readonly name: string; readonly chars: number }
  | { readonly kind: 'waiting'; readonly ms: number; readonly reason: string };
