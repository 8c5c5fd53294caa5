#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { messageOf } from './base/errors.ts';
import { showInvisible } from './chat/format/escape.ts';
import { readCommand, USAGE, UsageError } from './cli/usage.ts';

// Text from servers must not control the terminal: no escape sequences, no invisible or bidirectional characters.
const out = (text: string) => process.stdout.write(`${showInvisible(text.trimEnd())}\n`);
const err = (text: string) => process.stderr.write(`${showInvisible(text.trimEnd())}\n`);

// A reader such as `head`, or a terminal, may close before everything is written.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
  });
}

/** The first signal stops the run, so that the chat records the state of its calls. The second ends the process. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function main(): Promise<number> {
  const stopped = new AbortController();
  for (const name of STOP_SIGNALS) process.once(name, () => stopped.abort());
  try {
    const command = readCommand(process.argv.slice(2));
    const version = readVersion();
    if (command.kind === 'tools' || command.kind === 'call' || command.kind === 'run') {
      // Loaded on demand: nearly all of the code, which --help does not need.
      const { runCommand } = await import('./cli/commands.ts');
      return await runCommand(command, { out, err, version, signal: stopped.signal });
    }
    out(command.kind === 'help' ? USAGE : version);
    return 0;
  } catch (error) {
    err(messageOf(error));
    if (!(error instanceof UsageError)) return 1;
    err(`\n${USAGE}`);
    return 2;
  }
}

/** package.json is one folder above both the sources and the bundle. */
function readVersion(): string {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return manifest.version;
}

process.exitCode = await main();
