import { alignColumns, showVerdict } from '../frame.ts';

export interface ChatRow {
  readonly what: string;
  readonly ours: number;
  readonly theirs: number;
  readonly unit: 'ms' | 'tokens';
  /** The work that `theirs` measures. */
  readonly against: string;
  readonly target?: Target | undefined;
}

/** `maxShare`: ours is less than this share of theirs. `minTimes`: theirs is at least this many times ours. */
export type Target =
  | { readonly kind: 'maxShare'; readonly share: number }
  | { readonly kind: 'minTimes'; readonly times: number };

export function renderRows(rows: readonly ChatRow[]): string {
  const head = ['Chats', 'Filechat', 'against', '', 'ratio', 'target', 'verdict'];
  return alignColumns([head, ...rows.map(describeRow)]);
}

function describeRow(row: ChatRow): readonly string[] {
  const { what, ours, theirs, unit, against, target } = row;
  const figure = (value: number) => `${showNumber(value)} ${unit}`;
  return [
    what,
    figure(ours),
    figure(theirs),
    against,
    describeRatio(row),
    target ? describeTarget(target) : '',
    target ? showVerdict(meets(row, target)) : '',
  ];
}

function describeRatio({ ours, theirs, unit, against }: ChatRow): string {
  if (unit === 'tokens') return `1/${showNumber(theirs / ours)}`;
  return against === 'markdown-it'
    ? `${((ours / theirs) * 100).toFixed(2)} %`
    : `${(ours / theirs).toFixed(2)}×`;
}

function describeTarget(target: Target): string {
  return target.kind === 'maxShare'
    ? `< ${target.share * 100} %`
    : `≤ 1/${target.times.toLocaleString('en')}`;
}

function meets({ ours, theirs }: ChatRow, target: Target): boolean {
  return target.kind === 'maxShare' ? ours < theirs * target.share : theirs >= ours * target.times;
}

function showNumber(value: number): string {
  return value < 100 ? value.toPrecision(3) : Math.round(value).toLocaleString('en');
}
