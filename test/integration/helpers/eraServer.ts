import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { StdioServer } from '../../../src/mcp/config/types.ts';
import { type Cleanup, temporaryFolder } from '../../kit/folder.ts';
import { fixture } from './serving.ts';

/** A server of one protocol era, and the messages that it received since the last look. */
export function eraServer(
  cleanup: Cleanup,
  mode: string,
): { config: StdioServer; heard(): readonly string[] } {
  const record = join(temporaryFolder(cleanup), 'heard.txt');
  let seen = 0;
  return {
    config: {
      kind: 'stdio',
      command: process.execPath,
      args: [fixture('era-server.mjs'), mode, record],
      env: {},
    },
    heard: () => {
      const lines = existsSync(record) ? readFileSync(record, 'utf8').trimEnd().split('\n') : [];
      const from = seen;
      seen = lines.length;
      return lines.slice(from);
    },
  };
}
