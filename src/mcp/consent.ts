import { createHash } from 'node:crypto';
import { showInvisible } from '../chat/escape.ts';
import type { OAuthConfig, ServerConfig } from './config.ts';
import { inputsOf } from './inputs.ts';

/**
 * The whole of what would be started or asked, for a person who decides about it: never cut, and with nothing
 * that hides. Values of variables and headers are left out, because they are often secrets.
 */
export function describeServer(config: ServerConfig): string {
  const lines =
    config.kind === 'stdio'
      ? [
          [config.command, ...config.args].map(quoted).join(' '),
          ...listed('in', config.cwd === undefined ? [] : [config.cwd]),
          ...listed('env:', Object.keys(config.env)),
          ...listed('env file:', config.envFile === undefined ? [] : [config.envFile]),
        ]
      : [
          showInvisible(config.url),
          ...listed('headers:', Object.keys(config.headers)),
          ...describeOAuth(config.oauth ?? {}),
        ];
  return [
    ...lines,
    ...listed('inputs:', inputsOf(config)),
    ...listed('gets from your environment:', config.fromEnvironment ?? []),
  ].join('\n');
}

/** Changes with anything in the configuration, values of variables and headers included. */
export function fingerprintServer(config: ServerConfig): string {
  return createHash('sha256').update(canonicalJson(config)).digest('hex');
}

function describeOAuth({ clientId, clientSecret, clientMetadataUrl, scopes = [] }: OAuthConfig): string[] {
  return [
    ...listed(
      'signs in as:',
      [clientId, clientMetadataUrl].filter((each) => each !== undefined),
    ),
    ...(clientSecret === undefined ? [] : ['with a client secret']),
    ...listed('scopes:', scopes),
  ];
}

function listed(label: string, words: readonly string[]): string[] {
  return words.length === 0 ? [] : [`${label} ${words.map(quoted).join(', ')}`];
}

const PLAIN_WORD = /^[\w@%+=:,./\\~-]+$/;

function quoted(word: string): string {
  return PLAIN_WORD.test(word) ? word : showInvisible(JSON.stringify(word));
}

function canonicalJson(value: unknown): string {
  return JSON.stringify(value, (_key, item: unknown) =>
    typeof item === 'object' && item !== null && !Array.isArray(item)
      ? Object.fromEntries(Object.entries(item).sort(([a], [b]) => (a < b ? -1 : 1)))
      : item,
  );
}
