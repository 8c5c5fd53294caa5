import { field, isObject } from '../../base/json.ts';
import { looksSecret } from './checks.ts';
import { describeServer } from './fingerprint.ts';
import { readServers } from './servers.ts';
import type { ServerConfig } from './types.ts';

export type ServerEntry = Readonly<Record<string, unknown>>;

export interface NewServer {
  readonly name: string;
  readonly entry: ServerEntry;
}

/** Reads an entry with its variables unexpanded. Throws if it is invalid or disabled. */
export function readEntry({ name, entry }: NewServer): ServerConfig {
  const { servers, problems } = readServers({ [name]: entry }, 'asWritten');
  const config = servers.get(name);
  if (config === undefined) throw new TypeError(problems[0] ?? 'A server that is disabled cannot be added.');
  return config;
}

/** Describes an entry that may be invalid and may contain secrets, which are masked. */
export function describeEntry(server: NewServer): string {
  try {
    return describeServer(readEntry(server), looksSecret);
  } catch (error) {
    return (error as Error).message;
  }
}

/** Server names contain no dot, so two servers never share an input. */
export function inputId(server: string, name: string): string {
  return `${server}.${name}`;
}

/**
 * Replaces each secret of an entry by `${input:ID}`, because people share their settings files. Returns the secrets
 * by input id.
 */
export function extractSecrets(
  server: string,
  entry: ServerEntry,
): { readonly entry: ServerEntry; readonly secrets: ReadonlyMap<string, string> } {
  const secrets = new Map<string, string>();
  const replace = (name: string, value: unknown): unknown => {
    const isLiteral = typeof value === 'string' && value !== '' && !value.includes('${');
    if (!isLiteral || name.includes('}') || !looksSecret(name, value)) return value;
    const id = inputId(server, name);
    secrets.set(id, value);
    return `\${input:${id}}`;
  };
  const replaced = ['env', 'headers', 'oauth'].flatMap((key) => {
    const record = field(entry, key);
    if (!isObject(record)) return [];
    return [[key, Object.fromEntries(Object.entries(record).map(([k, v]) => [k, replace(k, v)]))] as const];
  });
  return { entry: { ...entry, ...Object.fromEntries(replaced) }, secrets };
}
