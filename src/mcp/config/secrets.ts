import type { ServerConfig } from './types.ts';

/*
 * Which values of a configuration are secrets: those whose name says so (`API_KEY`, `Authorization`), and those that
 * look generated. Paths, numbers and ordinary words are not: masked, they would make messages useless.
 */

/** Words of a name that announce a secret. Not `tokens`, which is usually a number of them. */
const SECRET_WORD =
  /^(?:auth|authorization|bearer|cookies?|credentials?|dsn|jwt|pass|passphrase|pat|pwd)$|(?:keys?|token|secrets?|passwd|passwords?)$/;
/** The last word of a name whose value only describes a secret, such as `AUTH_TYPE` or `KEY_FILE`. */
const DESCRIPTION =
  /^(?:age|algorithm|dir|enabled|expires|expiry|file|folder|header|host|limit|method|mode|name|path|port|prefix|provider|required|scheme|scopes?|size|sock|timeout|ttl|type|uri|url|user|username|version)$/;

/** Prefixes of the keys of well-known services. */
const SECRET_VALUE = /^(?:sk-|gh[opsu]_|github_pat_|glpat-|xox[abpr]-|AKIA|AIza|eyJ)/;
const NUMBER_OR_FLAG = /^(?:[\d.,:]{1,9}|true|false|yes|no|on|off|none|null)$/i;
const PATH = /^(?:\.{0,2}[\\/]|~[\\/]|[A-Za-z]:[\\/]|file:)/;

/** Whether a name or a well-known prefix says so. */
export function looksSecret(name: string, value = ''): boolean {
  return !isOrdinary(value) && (namesSecret(name) || SECRET_VALUE.test(value));
}

/** Whether the value cannot be a secret, whatever its name. */
export function isOrdinary(value: string): boolean {
  return NUMBER_OR_FLAG.test(value) || PATH.test(value);
}

function namesSecret(name: string): boolean {
  const words = name
    .replace(/([a-z\d])([A-Z])/g, '$1 $2')
    .toLowerCase()
    .split(/[^a-z\d]+/);
  return !DESCRIPTION.test(words.at(-1) ?? '') && words.some((word) => SECRET_WORD.test(word));
}

const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;
const MIN_GENERATED_CHARS = 16;
/** `postgresql15primary` has two. */
const MIN_SWITCHES = 4;

/** Whether letters and digits alternate as in no word that somebody chose. */
function looksGenerated(value: string): boolean {
  if (/\s/.test(value) || isOrdinary(value)) return false;
  const switches = (run: string) => run.match(/\d(?=[A-Za-z])|[A-Za-z](?=\d)/g)?.length ?? 0;
  const runs = value.split(/[^A-Za-z\d]+/).filter((run) => run.length >= MIN_GENERATED_CHARS);
  return UUID.test(value) || runs.some((run) => switches(run) >= MIN_SWITCHES);
}

export const MASK = '•••';
/** Shorter values are too common to be masked. */
const MIN_SECRET_CHARS = 6;

/** Known formats of secrets. Each lookbehind ensures linear time on long runs of word characters. */
const SECRET_FORMATS = new RegExp(
  [
    String.raw`(?<=\b(?:Bearer|Basic)[ \t]{1,4})[\w.~+/=-]{6,}`,
    String.raw`(?<![\w-])(?:sk|pk|rk)[-_][\w-]{16,}`,
    String.raw`(?<!\w)(?:gh[pousr]_|github_pat_|glpat-|npm_|hf_)\w{16,}`,
    String.raw`(?<![\w-])xox[a-z]-[\w-]{10,}`,
    String.raw`(?<!\w)(?:AKIA|ASIA)[A-Z0-9]{16}(?!\w)`,
    String.raw`(?<![\w-])AIza[\w-]{30,}`,
    String.raw`(?<![\w-])eyJ[\w-]{8,}\.[\w-]{8,}(?:\.[\w-]*)?`,
  ].join('|'),
  'gi',
);

/** Creates a function that masks a server's secrets in messages and logs. */
export function createMask(config: ServerConfig, extra: readonly string[] = []): (text: string) => string {
  const secrets = [...configuredSecrets(config), ...extra].flatMap(encodedForms);
  const known = [...new Set(secrets)]
    .filter((secret) => secret.length >= MIN_SECRET_CHARS)
    // The longest first, because a secret may be a prefix of another.
    .toSorted((a, b) => b.length - a.length)
    .map((secret) => secret.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  const pattern = known.length > 0 ? new RegExp(known.join('|'), 'g') : undefined;
  return (text) => (pattern ? text.replace(pattern, MASK) : text).replace(SECRET_FORMATS, MASK);
}

function configuredSecrets(config: ServerConfig): readonly string[] {
  if (config.kind === 'stdio') return Object.entries(config.env).flatMap(secretsIn);
  const { clientSecret = '' } = config.oauth ?? {};
  return [...Object.entries(config.headers).flatMap(secretsIn), ...urlSecrets(config.url), clientSecret];
}

/** The value, if it is secret; of an address only its credentials; of `Bearer abc` also `abc`. */
export function secretsIn([name, value]: readonly [string, string]): readonly string[] {
  if (value.includes('://') && URL.canParse(value)) return urlSecrets(value);
  if (!looksSecret(name, value) && !looksGenerated(value)) return [];
  const [, credentials] = /^\s*[A-Za-z]+\s+(\S+)\s*$/.exec(value) ?? [];
  return credentials === undefined ? [value] : [value, credentials];
}

function urlSecrets(address: string): readonly string[] {
  if (!URL.canParse(address)) return [];
  const { username, password, pathname, searchParams } = new URL(address);
  const named = [...searchParams].filter(
    ([name, value]) => looksSecret(name, value) || looksGenerated(value),
  );
  return [
    password,
    // A user name alone is a token.
    ...(password === '' ? [username] : []),
    ...named.map(([, value]) => value),
    ...pathname.split('/').filter(looksGenerated),
  ];
}

/** As it is, in a URL, and in JSON. */
function encodedForms(secret: string): readonly string[] {
  const trimmed = secret.trim();
  return [trimmed, encodeURIComponent(trimmed.toWellFormed()), JSON.stringify(trimmed).slice(1, -1)];
}
