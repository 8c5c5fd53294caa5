import { field, isObject } from '../../base/json.ts';
import { looksSecret } from './checks.ts';
import { describeServer } from './fingerprint.ts';
import { readServers } from './servers.ts';
import type { ServerConfig } from './types.ts';

/** A server in the form of our setting, with its variables in it. */
export type ServerEntry = Readonly<Record<string, unknown>>;

/** A server that somebody wants to have in the setting. */
export interface NewServer {
  readonly name: string;
  readonly entry: ServerEntry;
}

/** As it is written, without the values of variables. Throws what is wrong with it. */
export function readEntry({ name, entry }: NewServer): ServerConfig {
  const { servers, problems } = readServers({ [name]: entry }, 'asWritten');
  const config = servers.get(name);
  if (config === undefined) throw new TypeError(problems[0] ?? 'A server that is disabled cannot be added.');
  return config;
}

/** For what another host or an earlier time has left, which may be anything, secrets included. */
export function describeEntry(server: NewServer): string {
  try {
    return describeServer(readEntry(server), looksSecret);
  } catch (error) {
    return (error as Error).message;
  }
}

export interface SecretsTaken {
  /** The entry with `${input:…}` in the place of each secret. */
  readonly entry: Readonly<Record<string, unknown>>;
  /** The secrets by the ids of their inputs. */
  readonly secrets: ReadonlyMap<string, string>;
}

/** A dot cannot be in the name of a server, so that no two servers share an input. */
export function inputId(server: string, name: string): string {
  return `${server}.${name}`;
}

/** Takes the secrets out of an entry of the setting, which is a file that people show to each other. */
export function extractSecrets(server: string, entry: Readonly<Record<string, unknown>>): SecretsTaken {
  const secrets = new Map<string, string>();
  const replace = (name: string, value: unknown): unknown => {
    const isLiteral = typeof value === 'string' && value !== '' && !value.includes('${');
    if (!isLiteral || name.includes('}') || !looksSecret(name, value)) return value;
    const id = inputId(server, name);
    secrets.set(id, value);
    return `\${input:${id}}`;
  };
  const taken = ['env', 'headers', 'oauth'].flatMap((part) => {
    const record = field(entry, part);
    if (!isObject(record)) return [];
    return [[part, Object.fromEntries(Object.entries(record).map(([k, v]) => [k, replace(k, v)]))] as const];
  });
  return { entry: { ...entry, ...Object.fromEntries(taken) }, secrets };
}
