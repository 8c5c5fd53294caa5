import { alignColumns } from '../report.ts';
import type { ChatResults, ChatRow, Target } from './chatTypes.ts';

/** The table of what was measured of chats, with what must hold, as text for a terminal. */
export function renderChatReport({ node, machine, date, rows, failures }: ChatResults): string {
  const head = ['Chats', 'Filechat', 'against', '', 'ratio', 'target', 'verdict'];
  const table = alignColumns([head, ...rows.map(describeRow)]);
  return [`Node ${node}, ${machine}, ${date}`, table, failures.join('\n')]
    .filter((part) => part !== '')
    .join('\n\n');
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
    target ? (meets(row, target) ? 'ok' : 'MISSED') : '',
  ];
}

/** Where ours is to be a small share, the share is told; where theirs is to be many times ours, how many. */
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
