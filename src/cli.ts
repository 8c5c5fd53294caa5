#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import { exitWhenIdle } from './base/exitWhenIdle.ts';
import { showInvisible } from './chat/format/escapeMarkers.ts';
import { askOn, main } from './cli/main.ts';

// A reader such as `head`, or a terminal, may close before everything is written.
for (const stream of [process.stdout, process.stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => {
    if (error.code !== 'EPIPE' && error.code !== 'EIO') throw error;
  });
}

/** The first signal stops the run, so that the chat records the state of its calls. The second ends the process. */
const STOP_SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const;
const stopped = new AbortController();
for (const name of STOP_SIGNALS) process.once(name, () => stopped.abort());

/** package.json is one folder above both the sources and the bundle. */
const manifest: { readonly version: string } = JSON.parse(
  readFileSync(new URL('../package.json', import.meta.url), 'utf8'),
);

// Text from servers must not control the terminal: no escape sequences, no invisible or bidirectional characters.
const writeTo = (stream: NodeJS.WriteStream) => (text: string) =>
  void stream.write(`${showInvisible(text.trimEnd())}\n`);

exitWhenIdle();
process.exitCode = await main(process.argv.slice(2), {
  out: writeTo(process.stdout),
  err: writeTo(process.stderr),
  ask: process.stdin.isTTY ? askOn(process.stdin, process.stderr) : undefined,
  version: manifest.version,
  signal: stopped.signal,
});
