import assert from 'node:assert/strict';
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdirSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { createInterface } from 'node:readline';
import { after } from 'node:test';
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';
import { type Cleanup, temporaryFolder } from '../../kit/folder.ts';
import { repositoryPath } from './sampleServer.ts';
import { compileCache } from './serving.ts';

export const PNG_BYTES = Buffer.from(
  'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==',
  'base64',
);
export const IMAGE = 'tool-image-20261116-093012-V1StGXR8a0-1.png';
export const REPORT = 'tool-file-20261116-093013-V1StGXR8a1-1.txt';
export const LOOSE = 'tool-file-20261116-093014-V1StGXR8a2-1.json';
export const REPORT_TEXT = 'Umsätze 2026\nBerlin: 12 €\n東京: 34 €\n';
export const CHAT = 'notes/sales.chat.md';
export const CHAT_URI = 'filechat://notes%2Fsales.chat.md';
export const IMAGE_URI = `${CHAT_URI}/${IMAGE}`;
export const REPORT_URI = `${CHAT_URI}/${REPORT}`;
export const LOOSE_URI = `filechat://notes%2Fcmdassets/${LOOSE}`;

export const CHAT_TEXT = `# %% user
Draw the sales of the harbour.

# %% assistant
\`\`\`tool_call charts.bar c1
{}
\`\`\`

# %% tool charts.bar c1
![Tool generated image 1](cmdassets/${IMAGE})
[Tool generated file 1: umsatz.txt](cmdassets/${REPORT})

# %% user
`;

/** Chats with assets in a folder, and a folder around it that must not be reachable. */
export interface Notes {
  /** The folder that is served. */
  readonly path: string;
  /** The folder around it. */
  readonly around: string;
  write(name: string, content: string | Uint8Array): void;
}

export function createNotes(t: Cleanup): Notes {
  const around = temporaryFolder(t);
  const path = join(around, 'served');
  const write: Notes['write'] = (name, content) => {
    const at = join(path, name);
    mkdirSync(dirname(at), { recursive: true });
    writeFileSync(at, content);
  };
  write(CHAT, CHAT_TEXT);
  write(`notes/cmdassets/${IMAGE}`, PNG_BYTES);
  write(`notes/cmdassets/${REPORT}`, REPORT_TEXT);
  write(`notes/cmdassets/${LOOSE}`, '{"id":123}');
  write('ideas.chat.md', '# %% user\nThink of a harbour.\n');
  return { path, around, write };
}

/** As it is shipped; from its sources where nothing has been built. */
export function assetsServerFile(): string {
  const built = repositoryPath('dist/assets-server.js');
  return existsSync(built) ? built : repositoryPath('src/assets-server.ts');
}

export const ERAS = ['2025-11-25', '2026-07-28'] as const;
export type Era = (typeof ERAS)[number];

const CLIENT_INFO = { name: 'filechat-integration', version: '1' };

/** A client of the SDK that speaks one revision. */
export function createClient(era: Era): Client {
  return new Client(CLIENT_INFO, {
    versionNegotiation: { mode: era === '2025-11-25' ? 'legacy' : { pin: era } },
  });
}

export interface Connected {
  readonly client: Client;
  /** Of the server's process. */
  readonly pid: number;
  readonly stderr: () => string;
}

export async function connectOverStdio(t: Cleanup, era: Era, args: readonly string[]): Promise<Connected> {
  const client = createClient(era);
  const transport = new StdioClientTransport({
    command: process.execPath,
    args: [assetsServerFile(), ...args],
    env: compileCache(),
    stderr: 'pipe',
  });
  let stderr = '';
  transport.stderr?.on('data', (chunk) => {
    stderr += chunk;
  });
  t.after(() => client.close());
  await client.connect(transport);
  return { client, pid: transport.pid ?? 0, stderr: () => stderr };
}

export interface HttpServer {
  readonly url: URL;
  readonly token: string;
  readonly process: ChildProcess;
}

interface ProgramOptions {
  /** On top of this process's own. */
  readonly env?: Readonly<Record<string, string>>;
  /** Another program than this process's own. */
  readonly node?: string;
}

export async function startOverHttp(
  t: Cleanup,
  args: readonly string[],
  { env = {}, node = process.execPath }: ProgramOptions = {},
): Promise<HttpServer> {
  const child = spawn(node, [assetsServerFile(), '--http', ...args], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, ...env },
  });
  t.after(() => end(child));
  let url: string | undefined;
  for await (const line of createInterface({ input: child.stderr })) {
    url ??= /^Serving (\S+)$/.exec(line)?.[1];
    const [, made, given] = /^(?:Token: (\S+)|The token is the one in (\S+)\.)$/.exec(line) ?? [];
    const token = made ?? (given === undefined ? undefined : env[given]);
    if (url !== undefined && token !== undefined) {
      child.stderr.resume();
      return { url: new URL(url), token, process: child };
    }
  }
  throw new Error('The server ended before it listened.');
}

export async function connectOverHttp(t: Cleanup, era: Era, { url, token }: HttpServer): Promise<Client> {
  const client = createClient(era);
  t.after(() => client.close());
  await client.connect(
    new StreamableHTTPClientTransport(url, {
      requestInit: { headers: { authorization: `Bearer ${token}` } },
    }),
  );
  return client;
}

/** Cleans up after all tests of a file, the latest first: a server before the folder that it watches. */
export function cleanUpLast(): Cleanup {
  const ends: (() => void | Promise<void>)[] = [];
  after(async () => {
    for (const end of ends.reverse()) await end();
  });
  return { after: (end) => void ends.push(end) };
}

export interface Called {
  readonly text: string;
  readonly structured: Record<string, unknown>;
  readonly resource?: { readonly uri: string; readonly text?: string; readonly blob?: string } | undefined;
}

/** The client has checked the structured content against the tool’s schema. */
export async function callTool(client: Client, name: string, args: Record<string, unknown>): Promise<Called> {
  const result = await client.callTool({ name, arguments: args });
  const [text, embedded] = result.content;
  assert.ok(!result.isError && text?.type === 'text', JSON.stringify(result));
  return {
    text: text.text,
    structured: result.structuredContent as Record<string, unknown>,
    ...(embedded?.type === 'resource' ? { resource: embedded.resource } : {}),
  };
}

async function end(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
}
