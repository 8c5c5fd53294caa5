#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { messageOf } from './base/errors.ts';
import { showInvisible } from './chat/format/escape.ts';
import { readCommand, USAGE, UsageError } from './cli/usage.ts';

// What a server says reaches the terminal only as something to read: no colours, no hidden or turned letters.
const out = (text: string) => process.stdout.write(`${showInvisible(text.trimEnd())}\n`);
const err = (text: string) => process.stderr.write(`${showInvisible(text.trimEnd())}\n`);

// A reader such as `head` may close its end before everything is written, and so may a terminal.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
  });
}

/** Each stops the run, so that the chat says what became of its calls. A second one ends the process at once. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;

async function main(): Promise<number> {
  const stopped = new AbortController();
  for (const name of STOP_SIGNALS) process.once(name, () => stopped.abort());
  try {
    const command = readCommand(process.argv.slice(2));
    const version = readVersion();
    if (command.kind === 'tools' || command.kind === 'call' || command.kind === 'run') {
      // Nearly all of what has to be loaded. Who only asks for help need not wait for it.
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

/** The manifest lies one folder above, in the sources as in the bundle. */
function readVersion(): string {
  const manifest: { readonly version: string } = JSON.parse(
    readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
  );
  return manifest.version;
}

process.exitCode = await main();
