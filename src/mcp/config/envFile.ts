import { messageOf } from '../../base/errors.ts';
import { showInvisible } from '../../chat/format/escape.ts';
import type { ServerConfig } from './types.ts';

const BLANK_LINE = /[ \t]*(?:#[^\n]*)?(?:\n|$)/y;
const NAME = /[ \t]*(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*/y;
const QUOTED = /(?:"([^"\\]*(?:\\[\s\S][^"\\]*)*)"|'([^']*)')[ \t]*(?:#[^\n]*)?(?:\n|$)/y;
const LINE = /([^\n]*)(?:\n|$)/y;
const COMMENT = /(?:^|[ \t])#.*$/;
const ESCAPED = /\\([nrt"\\$])/g;
const ESCAPES: Readonly<Record<string, string>> = { n: '\n', r: '\r', t: '\t' };

/**
 * Reads lines of NAME=value as a shell would, without expansion. Quoted values may span lines; backslash escapes work
 * only inside double quotes. The problems never quote a line, because it may contain a secret.
 */
export function parseEnvFile(text: string): {
  readonly variables: Readonly<Record<string, string>>;
  readonly problems: readonly string[];
} {
  const whole = text.replace(/^\uFEFF/, '').replace(/\r\n?/g, '\n');
  const variables = new Map<string, string>();
  const problems: string[] = [];
  for (let at = 0, line = 1; at < whole.length; ) {
    const entry = readEnvLine(whole, at);
    if (entry.kind === 'variable') variables.set(entry.name, entry.value);
    if (entry.kind === 'bad') problems.push(`Line ${line} was skipped: it is not NAME=value.`);
    line += countLines(whole, at, entry.end);
    at = entry.end;
  }
  // `fromEntries` also creates an own property for "__proto__".
  return { variables: Object.fromEntries(variables), problems };
}

/**
 * Adds the variables of the env file to the configuration, so that a changed file also changes the fingerprint.
 * Rejects when the file cannot be read or uses an input: its author may not be the user who entered the input.
 */
export async function withEnvFile(
  config: ServerConfig,
  readText: (path: string) => Promise<string>,
  warn: (problem: string) => void = () => {},
): Promise<ServerConfig> {
  if (config.kind !== 'stdio' || config.envFile === undefined) return config;
  const path = showInvisible(config.envFile);
  const text = await readText(config.envFile).catch((error: unknown) => {
    throw new Error(
      `Its env file ${path} could not be read: ${messageOf(error)}. Create the file, or remove "envFile" from the configuration.`,
    );
  });
  const { variables, problems } = parseEnvFile(text);
  for (const problem of problems) warn(`${path}: ${problem}`);
  const names = Object.keys(variables);
  const asking = names.filter((name) => variables[name]?.includes(`\${input:`));
  if (asking.length > 0) {
    throw new Error(
      `Its env file ${path} uses \${input:…} in ${asking.join(', ')}, but inputs are not resolved there. Move them to "env" in the configuration.`,
    );
  }
  return names.length === 0 ? config : { ...config, fileVariables: variables };
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
    return { value: double === undefined ? (single ?? '') : decodeEscapes(double), end: at + whole.length };
  }
  // An unterminated quote, or text after the closing one.
  if (text[at] === '"' || text[at] === "'") return undefined;
  const [whole = '', value = ''] = matchAt(LINE, text, at) ?? [];
  return { value: value.replace(COMMENT, '').trim(), end: at + whole.length };
}

function decodeEscapes(text: string): string {
  return text.replace(ESCAPED, (_whole, char: string) => ESCAPES[char] ?? char);
}

function matchAt(pattern: RegExp, text: string, at: number): RegExpExecArray | undefined {
  pattern.lastIndex = at;
  return pattern.exec(text) ?? undefined;
}

function countLines(text: string, from: number, to: number): number {
  return text.slice(from, to).split('\n').length - 1;
}
