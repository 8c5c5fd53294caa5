#!/usr/bin/env node
import { randomBytes } from 'node:crypto';
import { readFileSync, statSync } from 'node:fs';
import { AuditFile } from './assets/auditFile.ts';
import {
  readCommandLine,
  type ServeOptions,
  TOKEN_VARIABLE,
  USAGE,
  UsageError,
} from './assetsServer/commandLine.ts';
import { createShared, type Shared } from './assetsServer/shared.ts';
import { type HttpOptions, serveOverHttp } from './assetsServer/transport/http.ts';
import { serveOverStdio } from './assetsServer/transport/stdio.ts';
import { messageOf } from './base/errors.ts';
import { exitWhenIdle } from './base/exitWhenIdle.ts';
import { showInvisible } from './chat/format/escapeMarkers.ts';

const err = (text: string) => process.stderr.write(`${showInvisible(text.trimEnd())}\n`);

/** For the rest of a message beside its longest string. */
const MESSAGE_MARGIN_BYTES = 1024 * 1024;

async function main(): Promise<number> {
  try {
    const command = readCommandLine(process.argv.slice(2));
    if (command.kind === 'serve') {
      await serve(command);
      return 0;
    }
    process.stdout.write(command.kind === 'help' ? USAGE : `${readVersion()}\n`);
    return 0;
  } catch (error) {
    err(messageOf(error));
    if (!(error instanceof UsageError)) return 1;
    err(`\n${USAGE}`);
    return 2;
  }
}

async function serve(options: ServeOptions): Promise<void> {
  for (const folder of options.folders) checkFolder(folder);
  const stopped = new AbortController();
  for (const signal of ['SIGINT', 'SIGTERM'] as const) process.once(signal, () => stopped.abort());
  const audit = options.audit === undefined ? undefined : openAudit(options.audit);
  const shared = createShared({ ...options, audit, version: readVersion(), log: err });
  const limits = {
    maxMessageBytes: Math.ceil(options.maxUploadBytes / 3) * 4 + MESSAGE_MARGIN_BYTES,
    advice: `The limit for a file is ${options.maxUploadBytes} bytes; --max-upload-bytes sets it.`,
  };
  try {
    if (options.port === undefined) {
      const { stdin: input, stdout: output } = process;
      await serveOverStdio(shared, { input, output, ...limits }, stopped.signal);
    } else {
      await listen(shared, { port: options.port, ...limits }, stopped.signal);
    }
  } finally {
    shared.watching.dispose();
    await audit?.flush();
  }
}

function openAudit(path: string): AuditFile {
  return new AuditFile({ path, onFailure: err });
}

async function listen(
  shared: Shared,
  options: Omit<HttpOptions, 'token'>,
  signal: AbortSignal,
): Promise<void> {
  const given = process.env[TOKEN_VARIABLE] || undefined;
  const token = given ?? randomBytes(32).toString('base64url');
  const serving = await serveOverHttp(shared, { ...options, token });
  err(`Serving ${serving.url}`);
  // A generated token is printed once and not stored.
  err(given === undefined ? `Token: ${token}` : `The token is the one in ${TOKEN_VARIABLE}.`);
  if (!signal.aborted) await new Promise((resolve) => signal.addEventListener('abort', resolve));
  await serving.close();
}

function checkFolder(folder: string): void {
  const stats = statSync(folder, { throwIfNoEntry: false });
  if (!stats?.isDirectory()) throw new UsageError(`${folder} is not a folder.`);
}

/** The manifest is one folder up, both in the sources and in the bundle. */
function readVersion(): string {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return manifest.version;
}

exitWhenIdle();
process.exitCode = await main();
