import { CLIENTS, type ClientName, type Load, WAYS, type Way } from './results/types.ts';

export const PARTS = ['results', 'chat', 'content', 'assets', 'servers', 'editor'] as const;
export type Part = (typeof PARTS)[number];

export interface Options {
  readonly parts: readonly Part[];
  readonly ways: readonly Way[];
  readonly clients: readonly ClientName[];
  readonly loads: readonly Load[];
  readonly jsonFile: string;
  /** The chart of the README, drawn only on demand. */
  readonly svgFile?: string;
  /** Reports on earlier results instead of measuring. */
  readonly from?: string;
}

const USAGE = `npm run bench -- [results] [chat] [content] [assets] [servers] [editor] [options]
  results                     large results, from the request to the files; the options are about these
  chat                        reading chats, writing replies, and the tokens that are sent
  content                     an image of 10 MB through the helpers for tool authors
  assets                      windows of assets of 1 MB to 1 GB through the assets server
  servers                     seventeen servers at once, with and without three that hang
  editor                      typing, folding, scrolling and previews of a very long chat
  --sizes 1,8,32,64,128,256   MB of base64 in one image block
  --blocks 1000,10000         results of so many small blocks; --blocks 0 leaves them out
  --only stdio,json,sse       ways to the server
  --clients floor,ours,sdk2,sdk1
  --json FILE                 default dist/bench/results.json
  --svg [FILE]                draws the chart; default media/bench-results.svg
  --from FILE                 reports on earlier results instead of measuring`;

const DEFAULTS: Readonly<Record<string, string>> = {
  sizes: '1,8,32,64,128,256',
  blocks: '1000,10000',
  only: WAYS.join(),
  clients: CLIENTS.join(),
  json: 'dist/bench/results.json',
};
const DEFAULT_SVG = 'media/bench-results.svg';

/** Throws a message for the terminal. */
export function readOptions(words: readonly string[]): Options {
  const options = words.findIndex((word) => word.startsWith('--'));
  const names = options < 0 ? words : words.slice(0, options);
  const given = readPairs(words.slice(names.length));
  const value = (name: string) => given.get(name) ?? DEFAULTS[name] ?? '';
  const [svgFile, from] = [given.get('svg'), given.get('from')];
  return {
    parts: names.length === 0 ? PARTS : readNames('The bench', names.join(), PARTS),
    ways: readNames('--only', value('only'), WAYS),
    clients: readNames('--clients', value('clients'), CLIENTS),
    loads: [
      ...readNumbers('sizes', value('sizes')).map((mb): Load => ({ kind: 'image', mb })),
      ...readNumbers('blocks', value('blocks')).map((count): Load => ({ kind: 'blocks', count })),
    ],
    jsonFile: value('json'),
    ...(svgFile === undefined ? {} : { svgFile }),
    ...(from === undefined ? {} : { from }),
  };
}

function readPairs(words: readonly string[]): Map<string, string> {
  const given = new Map<string, string>();
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? '';
    const name = word.replace(/^--/, '');
    const known = name in DEFAULTS || name === 'svg' || name === 'from';
    if (!word.startsWith('--') || !known) throw new Error(`${word} is not an option.\n${USAGE}`);
    const next = words[at + 1];
    const hasValue = next !== undefined && !next.startsWith('--');
    if (!hasValue && name !== 'svg') throw new Error(`${word} needs a value.`);
    given.set(name, hasValue ? next : DEFAULT_SVG);
    if (hasValue) at += 1;
  }
  return given;
}

function readNames<Name extends string>(asker: string, text: string, known: readonly Name[]): Name[] {
  const wanted = text.split(',');
  const unknown = wanted.find((name) => !known.some((one) => one === name));
  if (unknown !== undefined) throw new Error(`${asker} knows ${known.join(', ')}, not ${unknown}.`);
  return known.filter((name) => wanted.includes(name));
}

function readNumbers(option: string, text: string): number[] {
  const numbers = text.split(',').map(Number);
  if (!numbers.every((number) => Number.isSafeInteger(number) && number >= 0))
    throw new Error(`--${option} takes whole numbers, not ${text}.`);
  return [...new Set(numbers)].filter((number) => number > 0).sort((a, b) => a - b);
}
