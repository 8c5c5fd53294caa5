import { describeServer } from './fingerprint.ts';
import { looksSecret } from './secretValues.ts';
import { readServers, type ServerConfig } from './servers.ts';

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
