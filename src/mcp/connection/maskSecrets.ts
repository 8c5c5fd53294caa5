import { field } from '../../base/json2.ts';
import type { ServerConfig } from '../config/servers.ts';

export const MASK = '•••';
/** Shorter values are words such as `true` or `8080`, which would tear holes into every line. */
const MIN_SECRET_CHARS = 6;

/**
 * What is a secret wherever it stands. Each begins where no such sign comes before it, so that a long run is
 * looked at once.
 */
const LIKE_A_SECRET = new RegExp(
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

/** Makes a function that hides a server's secrets in text about it, such as a line of its log. */
export function createMask(config: ServerConfig, extra: readonly string[] = []): (text: string) => string {
  const secrets = [...configuredSecrets(config), ...extra].flatMap(writtenForms);
  const known = [...new Set(secrets)]
    .filter((secret) => secret.length >= MIN_SECRET_CHARS)
    // The longest first: a secret may be the beginning of another.
    .toSorted((a, b) => b.length - a.length)
    .map((secret) => secret.replace(/[\\^$.*+?()[\]{}|/]/g, '\\$&'));
  const pattern = known.length > 0 ? new RegExp(known.join('|'), 'g') : undefined;
  return (text) => (pattern ? text.replace(pattern, MASK) : text).replace(LIKE_A_SECRET, MASK);
}

function configuredSecrets(config: ServerConfig): readonly string[] {
  const oauth = ['clientSecret', 'client_secret'].map((name) => field(field(config, 'oauth'), name));
  const named = oauth.filter((value) => typeof value === 'string');
  if (config.kind === 'stdio') return [...Object.values(config.env), ...named];
  return [...Object.values(config.headers).flatMap(headerSecrets), ...urlSecrets(config.url), ...named];
}

/** `Bearer abc` is a secret, and so is `abc` alone. */
function headerSecrets(value: string): readonly string[] {
  const [, credentials] = /^\s*[A-Za-z]+\s+(\S+)\s*$/.exec(value) ?? [];
  return credentials === undefined ? [value] : [value, credentials];
}

function urlSecrets(address: string): readonly string[] {
  if (!URL.canParse(address)) return [];
  const { username, password, searchParams } = new URL(address);
  return [username, password, ...searchParams.values()];
}

/** A secret as it is, and as it stands in an address or in JSON. */
function writtenForms(secret: string): readonly string[] {
  const trimmed = secret.trim();
  return [trimmed, encodeURIComponent(trimmed.toWellFormed()), JSON.stringify(trimmed).slice(1, -1)];
}
