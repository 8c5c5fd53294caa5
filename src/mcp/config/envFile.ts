import { messageOf } from '../../base/errors.ts';
import { checkConfig } from '../../base/json.ts';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import type { ServerConfig } from './types.ts';

const QUOTED = String.raw`(?:"([^"\\]*(?:\\[\s\S][^"\\]*)*)"|'([^']*)')[ \t]*(?:#[^\n]*)?`;
const UNQUOTED = String.raw`(?![ \t"'])([^\n]*)`;
const ASSIGNMENT = String.raw`(?:export[ \t]+)?([A-Za-z_][A-Za-z0-9_.-]*)[ \t]*=[ \t]*(?:${QUOTED}|${UNQUOTED})`;
const ENTRY = new RegExp(String.raw`[ \t]*(?:#[^\n]*|${ASSIGNMENT})?(?:\n|$)`, 'y');
/** Without `s`, each of many `#` would be followed up to a line break of Unicode. */
const COMMENT = /(?:^|[ \t])#.*$/s;
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
    const entry = readEntry(whole, at);
    if (entry === undefined) problems.push(`Line ${line} was skipped: it is not NAME=value.`);
    if (entry?.name !== undefined) variables.set(entry.name, entry.value);
    const read = whole.slice(at, entry?.end ?? endOfLine(whole, at));
    line += read.split('\n').length - 1;
    at += read.length;
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
  const read = async (file: string) => {
    const found = await readText(file);
    checkConfig(found);
    return found;
  };
  const text = await read(config.envFile).catch((error: unknown) => {
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

/** Undefined for an invalid line. Without a name it is blank. */
function readEntry(text: string, at: number) {
  ENTRY.lastIndex = at;
  const [entry, name, double, single, plain = ''] = ENTRY.exec(text) ?? [];
  if (entry === undefined) return undefined;
  const unquoted = single ?? plain.replace(COMMENT, '').trim();
  const value =
    double?.replace(/\\([nrt"\\$])/g, (_whole, char: string) => ESCAPES[char] ?? char) ?? unquoted;
  return value.includes('\0') ? undefined : { name, value, end: at + entry.length };
}

function endOfLine(text: string, at: number): number {
  const end = text.indexOf('\n', at);
  return end < 0 ? text.length : end + 1;
}
