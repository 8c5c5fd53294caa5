import { parseArgs } from 'node:util';
import { messageOf } from '../../src/base/errors.ts';
import { CLIENTS, type ClientName, type Load, WAYS, type Way } from './results/types.ts';

export const PARTS = ['results', 'chat', 'content', 'assets', 'servers', 'editor'] as const;
export type Part = (typeof PARTS)[number];

export interface Options {
  readonly parts: readonly Part[];
  readonly ways: readonly Way[];
  readonly clients: readonly ClientName[];
  readonly loads: readonly Load[];
  readonly jsonFile: string;
  /** The chart of the README and the documentation, drawn only on demand. */
  readonly svgFile: string | undefined;
  /** Reports on earlier results instead of measuring. */
  readonly from: string | undefined;
}

const USAGE = `npm run bench -- [results] [chat] [content] [assets] [servers] [editor] [options]
  results                     large results, from the request to the files; the options are about these
  chat                        reading chats, writing replies, and the tokens that are sent
  content                     an image of 10 MB through the helpers for tool authors
  assets                      windows of assets of 1 MB to 1 GB through the assets server
  servers                     seventeen servers at once, with and without three that hang
  editor                      typing, folding, scrolling and previews of a very long chat
  --sizes 1,8,32,64,128,256   MB of base64 in one image block
  --blocks 1,100,1000,10000   results of this many small blocks; --blocks 0 leaves them out
  --only stdio,json,sse       ways to the server
  --clients floor,ours,sdk2,sdk1
  --json FILE                 default dist/bench/results.json
  --svg [FILE]                draws the chart, also as PNG; default media/bench-results.svg
  --from FILE                 reports on earlier results instead of measuring`;

const DEFAULT_SVG = 'media/bench-results.svg';

/** Throws a message for the terminal. */
export function readOptions(words: readonly string[]): Options {
  const args = words.flatMap((word, at) =>
    word === '--svg' && (words[at + 1] ?? '--').startsWith('--') ? [word, DEFAULT_SVG] : [word],
  );
  const { positionals, values } = readArguments(args);
  return {
    parts: positionals.length === 0 ? PARTS : readNames('The bench', positionals, PARTS),
    ways: readNames('--only', values.only.split(','), WAYS),
    clients: readNames('--clients', values.clients.split(','), CLIENTS),
    loads: [
      ...readNumbers('sizes', values.sizes).map((mb): Load => ({ kind: 'image', mb })),
      ...readNumbers('blocks', values.blocks).map((count): Load => ({ kind: 'blocks', count })),
    ],
    jsonFile: values.json,
    svgFile: values.svg,
    from: values.from,
  };
}

function readArguments(args: string[]) {
  try {
    return parseArgs({
      args,
      allowPositionals: true,
      options: {
        sizes: { type: 'string', default: '1,8,32,64,128,256' },
        blocks: { type: 'string', default: '1,100,1000,10000' },
        only: { type: 'string', default: WAYS.join() },
        clients: { type: 'string', default: CLIENTS.join() },
        json: { type: 'string', default: 'dist/bench/results.json' },
        svg: { type: 'string' },
        from: { type: 'string' },
      },
    });
  } catch (error) {
    throw new Error(`${messageOf(error)}\n${USAGE}`);
  }
}

function readNames<Name extends string>(
  asker: string,
  wanted: readonly string[],
  known: readonly Name[],
): readonly Name[] {
  const unknown = wanted.find((name) => !known.some((each) => each === name));
  if (unknown !== undefined) throw new Error(`${asker} knows ${known.join(', ')}, not ${unknown}.`);
  return known.filter((name) => wanted.includes(name));
}

function readNumbers(option: string, text: string): readonly number[] {
  const numbers = text.split(',').map(Number);
  if (!numbers.every((number) => Number.isSafeInteger(number) && number >= 0))
    throw new Error(`--${option} takes whole numbers, not ${text}.`);
  return [...new Set(numbers)].filter((number) => number > 0).sort((a, b) => a - b);
}
