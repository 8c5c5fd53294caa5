import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { JSONRPCMessage } from '@modelcontextprotocol/client';
import { PendingRequests } from '../../../src/mcp/spill/pendingRequests.ts';
import { StdioTransport } from '../../../src/mcp/spill/stdio.ts';

const TELL_ENVIRONMENT =
  'console.log(JSON.stringify({ jsonrpc: "2.0", method: "env", params: process.env })); process.stdin.resume();';

/** Variables that a program needs to find other programs and its user's files. */
const NEEDED = {
  unix: ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER'],
  windows:
    `APPDATA COMSPEC HOMEDRIVE HOMEPATH LOCALAPPDATA PATH PATHEXT PROCESSOR_ARCHITECTURE PROGRAMDATA PROGRAMFILES
    PROGRAMFILES(X86) PROGRAMW6432 SYSTEMDRIVE SYSTEMROOT TEMP USERNAME USERPROFILE WINDIR`.split(/\s+/),
};
/** Set by macOS in every process. */
const FROM_SYSTEM = ['__CF_USER_TEXT_ENCODING'];

async function startAndRead(env: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const transport = new StdioTransport({
    server: { kind: 'stdio', command: process.execPath, args: ['-e', TELL_ENVIRONMENT], env },
    requests: new PendingRequests(),
    onLost: () => {},
  });
  const told = Promise.withResolvers<JSONRPCMessage>();
  transport.onmessage = told.resolve;
  transport.onclose = () => told.reject(new Error('The program exited without output.'));
  await transport.start();
  try {
    return ((await told.promise) as { params: Record<string, string> }).params;
  } finally {
    await transport.close();
  }
}

test('a server gets the variables that programs need and those that are configured, and no others', async (t) => {
  process.env['FILECHAT_TEST_SECRET'] = 'hidden';
  t.after(() => delete process.env['FILECHAT_TEST_SECRET']);
  const env = await startAndRead({ MINE: 'a=b $HOME', TERM: 'other' });
  const known = new Set([...NEEDED[process.platform === 'win32' ? 'windows' : 'unix'], ...FROM_SYSTEM]);
  const others = Object.keys(env).filter((name) => !known.has(name.toUpperCase()));
  assert.deepEqual(others, ['MINE']);
  assert.equal(env['MINE'], 'a=b $HOME');
  assert.equal(env['TERM'], 'other');
  assert.equal(env['PATH'] ?? env['Path'], process.env['PATH']);
});
