import { createHash } from 'node:crypto';
import { showInvisible } from '../../chat/format/escapeMarkers.ts';
import { inputsOf } from './inputs.ts';
import { looksSecret, MASK } from './secrets.ts';
import type { RemoteServer, ServerConfig, StdioServer } from './types.ts';

/** Whether the value of this name is masked. */
export type IsSecret = (name: string, value: string) => boolean;

/**
 * Describes everything that a server would start or connect to, for the user's consent: complete, with invisible
 * characters shown. Pass the unexpanded configuration, because expanded values may be secrets. For an env file, which
 * often contains secrets, it shows the names, and the values of the variables in `DECISIVE`.
 */
export function describeServer(config: ServerConfig, isSecret: IsSecret = () => false): string {
  const lines =
    config.kind === 'stdio' ? describeProgram(config, isSecret) : describeAddress(config, isSecret);
  return [
    ...lines,
    ...listed('inputs:', inputsOf(config)),
    ...listed('from your environment:', config.fromEnvironment ?? []),
  ].join('\n');
}

/** The difference between two descriptions of configurations that have different fingerprints. */
export function describeChange(was: string, is: string): string {
  const [before, after] = [new Set(was.split('\n')), new Set(is.split('\n'))];
  const lines = [
    ...[...before].filter((line) => !after.has(line)).map((line) => `was: ${line}`),
    ...[...after].filter((line) => !before.has(line)).map((line) => `is: ${line}`),
  ];
  return lines.length > 0
    ? lines.join('\n')
    : 'A value that is not shown has changed, in its env file or in your environment.';
}

/** Covers the whole configuration, including the values of variables and headers. */
export function fingerprintServer(config: ServerConfig): string {
  return fingerprint(config);
}

function describeProgram(config: StdioServer, isSecret: IsSecret): string[] {
  const { command, args, cwd, env, envFile, fileVariables = {} } = config;
  const found = Object.entries(fileVariables);
  const isShown = ([name, value]: readonly [string, string]) =>
    (DECISIVE.test(name) || (ADDRESS.test(name) && isPlainAddress(value))) && !looksSecret(name);
  return [
    [command, ...args].map(quoted).join(' '),
    ...listed('in', cwd === undefined ? [] : [cwd]),
    ...assigned('env:', Object.entries(env), isSecret),
    ...listed('env file:', envFile === undefined ? [] : [envFile]),
    ...assigned('env file sets:', found.filter(isShown)),
    ...listed(
      'env file sets:',
      found.filter((each) => !isShown(each)).map(([name]) => name),
    ),
  ];
}

/** Variables that load code into a program, choose the program, or redirect its connections. */
const DECISIVE =
  /^(?:NODE_|ELECTRON_|LD_|DYLD_|PYTHON|RUBY|PERL|DOTNET_|GIT_|NPM_CONFIG_|PIP_|UV_|CARGO_|DENO_|BUN_|DOCKER_|CONTAINER_|KUBE|BASH_|SSL_|ENV$|SHELL$|COMSPEC$|EDITOR$|PAGER$|HOME$)|PATH$|_PROXY$|OPTIONS$|OPTS?$/i;

/** Variables that choose where a program connects to, such as OPENAI_BASE_URL. */
const ADDRESS = /_(?:URL|URI|HOST|ENDPOINT|BASE|REGISTRY|INDEX|MIRROR)$/i;

/** An address without a user name, a password or a query, which may be secrets. */
function isPlainAddress(value: string): boolean {
  const url = URL.canParse(value) ? new URL(value) : undefined;
  return url?.username === '' && url.password === '' && url.search === '';
}

function describeAddress({ url, headers, oauth = {} }: RemoteServer, isSecret: IsSecret): string[] {
  const { clientId, clientSecret, clientMetadataUrl, scopes = [] } = oauth;
  const names = [clientId, clientMetadataUrl].filter((each) => each !== undefined);
  return [
    // URLs may contain line breaks, which parsers ignore.
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

/** A value that contains a variable only refers to a secret, so it is shown. */
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

/** Independent of the order of keys. */
export function fingerprint(value: unknown): string {
  const json = JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
  return createHash('sha256').update(json).digest('hex');
}
