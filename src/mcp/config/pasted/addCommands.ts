import { PasteError, type RawServer, type RawServers } from './types.ts';

/** The command lines with which other hosts add a server. Gemini's has the grammar of Claude's. */
const ADD_COMMAND = /(?:^|\s)(?:\$ )?((?:claude|gemini|codex)\s+mcp\s+add(?:-json)?)(?=\s|$)/g;

/** The parts of a text of one or more such lines; undefined if it does not start with one. */
export function splitAddCommands(text: string): readonly string[] | undefined {
  const starts = [...text.matchAll(ADD_COMMAND)].map(({ index, 0: whole, 1: command = '' }) => {
    return index + whole.length - command.length;
  });
  if (starts.length === 0 || !/^(?:\$ )?$/.test(text.slice(0, starts[0]))) return undefined;
  return starts.map((start, at) => text.slice(start, starts[at + 1]).replace(/\$\s*$/, ''));
}

type ReadJson = (text: string) => readonly RawServer[];

/** Reads the words of `claude mcp add …`, `claude mcp add-json …` or `codex mcp add …`. */
export function readAddCommand(words: readonly string[], readJson: ReadJson): RawServers {
  const [program = '', , verb = '', ...rest] = words;
  const command = [program, 'mcp', verb].join(' ');
  const { options, positionals, tail } = readOptions(rest);
  const isForWorkspace = options.get('scope')?.[0] === 'project';
  const [name, ...target] = positionals;
  if (name === undefined) throw new PasteError({ kind: 'usage', command, missing: 'name' });
  if (verb === 'add-json') {
    const servers = readJson([...target, ...tail].join(' ')).map(({ entry }) => ({ name, entry }));
    return { servers, isForWorkspace };
  }
  const found = readTarget([...target, ...tail], options);
  if (found === undefined) throw new PasteError({ kind: 'usage', command, missing: 'target' });
  return { servers: [{ name, entry: found }], isForWorkspace };
}

const OPTIONS: Readonly<Record<string, string>> = {
  '-s': 'scope',
  '--scope': 'scope',
  '-t': 'transport',
  '--transport': 'transport',
  '-e': 'env',
  '--env': 'env',
  '-H': 'header',
  '--header': 'header',
  '--url': 'url',
  '--bearer-token-env-var': 'bearer',
  '--client-id': 'clientId',
  '--callback-port': 'callbackPort',
};

interface ReadOptions {
  readonly options: ReadonlyMap<string, readonly string[]>;
  readonly positionals: readonly string[];
  /** The words after `--`, or after the program. */
  readonly tail: readonly string[];
}

function readOptions(words: readonly string[]): ReadOptions {
  const options = new Map<string, string[]>();
  const positionals: string[] = [];
  for (let at = 0; at < words.length; at += 1) {
    const word = words[at] ?? '';
    const [flag = '', inline] = /^(--[\w-]+)=(.*)$/s.exec(word)?.slice(1) ?? [word];
    const option = Object.hasOwn(OPTIONS, flag) ? OPTIONS[flag] : undefined;
    if (word === '--') return { options, positionals, tail: words.slice(at + 1) };
    if (option !== undefined) {
      const values = inline === undefined ? valuesAt(words, at + 1, option) : [inline];
      options.set(option, [...(options.get(option) ?? []), ...values]);
      at += inline === undefined ? values.length : 0;
    } else if (!word.startsWith('-') || positionals.length > 1) {
      positionals.push(word);
    }
    // The options of a program are its own; those after an address are of the command.
    const isProgram = positionals.length === 2 && !isAddress(positionals[1] ?? '');
    if (isProgram) return { options, positionals, tail: words.slice(at + 1).filter((each) => each !== '--') };
  }
  return { options, positionals, tail: [] };
}

/** Variables and headers may follow their option in a row. */
function valuesAt(words: readonly string[], start: number, option: string): readonly string[] {
  const more = { env: /^[A-Za-z_]\w*=/, header: /^[\w-]+:\s/ }[option];
  let end = start + 1;
  while (more?.test(words[end] ?? '')) end += 1;
  return words.slice(start, end);
}

function readTarget(words: readonly string[], options: ReadOptions['options']): object | undefined {
  const first = (name: string) => options.get(name)?.[0];
  const [command, ...args] = words;
  const url = first('url') ?? (isAddress(command ?? '') ? command : undefined);
  if (url === undefined) {
    const env = pairs(options.get('env'), '=');
    return command === undefined ? undefined : { command, args, ...(env && { env }) };
  }
  const bearer = first('bearer');
  const own = pairs(options.get('header'), ':');
  const headers = bearer === undefined ? own : { ...own, Authorization: `Bearer \${env:${bearer}}` };
  const clientId = first('clientId');
  const type = first('transport');
  return {
    url,
    ...(type && { type }),
    ...(headers && { headers }),
    ...(clientId && { oauth: { clientId } }),
  };
}

function isAddress(word: string): boolean {
  return /^https?:\/\//i.test(word);
}

function pairs(texts: readonly string[] | undefined, divider: string): Record<string, string> | undefined {
  return (
    texts &&
    Object.fromEntries(
      texts.map((text) => {
        const [name = '', ...value] = text.split(divider);
        return [name.trim(), value.join(divider).trim()];
      }),
    )
  );
}
