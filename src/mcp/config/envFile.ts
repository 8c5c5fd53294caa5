import { messageOf } from '../../base/errors.ts';
import { showInvisible } from '../../chat/format/escape.ts';
import type { ServerConfig } from './types.ts';

export interface EnvFileRead {
  readonly variables: Readonly<Record<string, string>>;
  /** One sentence for each line that was left out. None tells what stands in it, because that may be a secret. */
  readonly problems: readonly string[];
}

const BLANK_LINE = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y;
const NAME = /[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*/y;
const QUOTED = /(?:"([^"\\]*(?:\\[\s\S][^"\\]*)*)"|'([^']*)')[ \t]*(?:#[^\n]*)?(?:\n|$)/y;
const LINE = /([^\n]*)(?:\n|$)/y;
const COMMENT = /(?:^|[ \t])#.*$/;
const ESCAPED = /\\([nrt"\\$])/g;
const MEANINGS: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/**
 * Reads lines of NAME=value, as a shell would, but fills in nothing and runs nothing. What is quoted may go over
 * several lines; a backslash means something between double quotes only.
 */
export function parseEnvFile(text: string): EnvFileRead {
  const whole = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const variables = new Map<string, string>();
  const problems: string[] = [];
  for (let at = 0, line = 1; at < whole.length; ) {
    const entry = readEnvLine(whole, at);
    if (entry.kind === 'variable') variables.set(entry.name, entry.value);
    if (entry.kind === 'bad') problems.push(`Line ${line} is left out: it is not NAME=value.`);
    line += countLines(whole, at, entry.end);
    at = entry.end;
  }
  // Unlike an assignment, this makes an ordinary property even of "__proto__".
  return { variables: Object.fromEntries(variables), problems };
}

/**
 * Puts the variables of its env file beside those of a configuration. They are a part of it from then on, so that a
 * file that has changed is a server that has changed. Rejects when the file cannot be read or wants an input: who
 * writes the file need not be who was given it.
 */
export async function withEnvFile(
  config: ServerConfig,
  readText: (path: string) => Promise<string>,
  warn: (problem: string) => void = () => {},
): Promise<ServerConfig> {
  if (config.kind !== 'stdio' || config.envFile === undefined) return config;
  const path = showInvisible(config.envFile);
  const { variables, problems } = parseEnvFile(await readText(config.envFile).catch(explain(path)));
  for (const problem of problems) warn(`${path}: ${problem}`);
  const names = Object.keys(variables);
  const asking = names.filter((name) => variables[name]?.includes(`\${input:`));
  if (asking.length > 0) {
    throw new Error(
      `Its env file ${path} uses \${input:…} in ${asking.join(', ')}, and nothing is filled in there. Move that to "env" in the configuration.`,
    );
  }
  return names.length === 0 ? config : { ...config, fileVariables: variables };
}

function explain(path: string): (error: unknown) => never {
  return (error) => {
    const reason = messageOf(error);
    throw new Error(
      `Its env file ${path} could not be read: ${reason}. Make that file, or take "envFile" out of the configuration.`,
    );
  };
}

type EnvLine =
  | { readonly kind: 'blank' | 'bad'; readonly end: number }
  | { readonly kind: 'variable'; readonly end: number; readonly name: string; readonly value: string };

function readEnvLine(text: string, at: number): EnvLine {
  const blank = matchAt(BLANK_LINE, text, at);
  if (blank) return { kind: 'blank', end: at + blank[0].length };
  const bad: EnvLine = { kind: 'bad', end: at + (matchAt(LINE, text, at)?.[0].length ?? 1) };
  const [start, name] = matchAt(NAME, text, at) ?? [];
  if (start === undefined || name === undefined) return bad;
  const found = readValue(text, at + start.length);
  return found === undefined || found.value.includes('\0') ? bad : { kind: 'variable', name, ...found };
}

function readValue(text: string, at: number): { readonly value: string; readonly end: number } | undefined {
  const quoted = matchAt(QUOTED, text, at);
  if (quoted) {
    const [whole, double, single] = quoted;
    return { value: double === undefined ? (single ?? '') : readEscapes(double), end: at + whole.length };
  }
  // A quote that does not end as it should.
  if (text[at] === '"' || text[at] === "'") return undefined;
  const [whole = '', value = ''] = matchAt(LINE, text, at) ?? [];
  return { value: value.replace(COMMENT, '').trim(), end: at + whole.length };
}

function readEscapes(text: string): string {
  return text.replace(ESCAPED, (_whole, sign: string) => MEANINGS[sign] ?? sign);
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

function countLines(text: string, from: number, to: number): number {
  return text.slice(from, to).split('\n').length - 1;
}
