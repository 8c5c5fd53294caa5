import { createHash } from 'node:crypto';
import { showInvisible } from '../../chat/format/escape.ts';
import { MASK } from '../connection/stderr.ts';
import { looksSecret } from './checks.ts';
import { inputsOf } from './inputs.ts';
import type { RemoteServer, ServerConfig, StdioServer } from './types.ts';

/** Whether a value is hidden that somebody has written down under this name. */
export type IsSecret = (name: string, value: string) => boolean;

/**
 * The whole of what would be started or asked, for a person who decides about it: never cut, with nothing that
 * hides, and each thing on a line of its own. Give it what is written: whatever is filled in may be a secret. Of an
 * env file, which often holds secrets, it shows the names, and the values that decide what runs or who listens.
 */
export function describeServer(config: ServerConfig, isSecret: IsSecret = () => false): string {
  const lines =
    config.kind === 'stdio' ? describeProgram(config, isSecret) : describeAddress(config, isSecret);
  return [
    ...lines,
    ...listed('inputs:', inputsOf(config)),
    ...listed('gets from your environment:', config.fromEnvironment ?? []),
  ].join('\n');
}

/** What is other than it was, between two descriptions of a server that are not of the same configuration. */
export function describeChange(was: string, is: string): string {
  const [before, after] = [was.split('\n'), is.split('\n')];
  const lines = [
    ...before.filter((line) => !after.includes(line)).map((line) => `was: ${line}`),
    ...after.filter((line) => !before.includes(line)).map((line) => `is: ${line}`),
  ];
  return lines.length > 0
    ? lines.join('\n')
    : 'A value that is not shown has changed: one of its env file, or of your environment.';
}

/** Changes with anything in the configuration, values of variables and headers included. */
export function fingerprintServer(config: ServerConfig): string {
  return fingerprint(config);
}

function describeProgram(config: StdioServer, isSecret: IsSecret): string[] {
  const { command, args, cwd, env, envFile, fileVariables = {} } = config;
  const found = Object.entries(fileVariables);
  const isShown = (name: string) => DECISIVE.test(name) && !looksSecret(name);
  return [
    [command, ...args].map(quoted).join(' '),
    ...listed('in', cwd === undefined ? [] : [cwd]),
    ...assigned('env:', Object.entries(env), isSecret),
    ...listed('env file:', envFile === undefined ? [] : [envFile]),
    ...assigned(
      'env file sets:',
      found.filter(([name]) => isShown(name)),
    ),
    ...listed(
      'env file sets:',
      found.map(([name]) => name).filter((name) => !isShown(name)),
    ),
  ];
}

/** Variables that load code into a program, choose which program runs, or lead its connections elsewhere. */
const DECISIVE =
  /^(?:NODE_|ELECTRON_|LD_|DYLD_|PYTHON|RUBY|PERL|DOTNET_|GIT_|NPM_CONFIG_|BASH_|SSL_|ENV$|SHELL$|COMSPEC$)|PATH$|_PROXY$|OPTIONS$|OPTS?$/i;

function describeAddress({ url, headers, oauth = {} }: RemoteServer, isSecret: IsSecret): string[] {
  const { clientId, clientSecret, clientMetadataUrl, scopes = [] } = oauth;
  const names = [clientId, clientMetadataUrl].filter((each) => each !== undefined);
  return [
    // An address may hold line ends, which count for nothing in it.
    /[\s"]/.test(url) ? quoted(url) : showInvisible(url),
    ...assigned('header:', Object.entries(headers), isSecret),
    ...listed('signs in as:', names),
    ...(clientSecret === undefined
      ? []
      : [`client secret: ${shown('clientSecret', clientSecret, isSecret)}`]),
    ...listed('scopes:', scopes),
  ];
}

function assigned(
  label: string,
  values: readonly (readonly [string, string])[],
  isSecret: IsSecret = () => false,
): string[] {
  return values.map(([name, value]) => `${label} ${quoted(name)}=${shown(name, value, isSecret)}`);
}

/** A value with a variable in it names a secret at most. */
function shown(name: string, value: string, isSecret: IsSecret): string {
  return !value.includes('${') && isSecret(name, value) ? MASK : quoted(value);
}

function listed(label: string, words: readonly string[]): string[] {
  return words.length === 0 ? [] : [`${label} ${words.map(quoted).join(', ')}`];
}

const PLAIN_WORD = /^[\w@%+=:,./\\~${}-]+$/;

function quoted(word: string): string {
  return PLAIN_WORD.test(word) ? word : showInvisible(JSON.stringify(word));
}

/** The same for the same value; the order in which somebody writes keys means nothing. */
export function fingerprint(value: unknown): string {
  const json = JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
  return createHash('sha256').update(json).digest('hex');
}
