import { createHash } from 'node:crypto';
import { showInvisible } from '../chat/escape.ts';
import type { ServerConfig } from './config.ts';

/**
 * The whole of what would be started or asked, for a person who decides about it: never cut, and with nothing
 * that hides. Values of variables and headers are left out, because they are often secrets.
 */
export function describeServer(config: ServerConfig): string {
  if (config.kind !== 'stdio') {
    return [showInvisible(config.url), ...named('headers', config.headers)].join('\n');
  }
  const commandLine = [config.command, ...config.args].map(quoted).join(' ');
  const cwd = config.cwd === undefined ? [] : [`in ${quoted(config.cwd)}`];
  return [commandLine, ...cwd, ...named('env', config.env)].join('\n');
}

/** Changes with anything in the configuration, values of variables and headers included. */
export function fingerprintServer(config: ServerConfig): string {
  return createHash('sha256').update(canonicalJson(config)).digest('hex');
}

function named(field: string, record: Readonly<Record<string, string>>): string[] {
  const names = Object.keys(record).map(quoted);
  return names.length === 0 ? [] : [`${field}: ${names.join(', ')}`];
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
