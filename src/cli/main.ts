import { createInterface } from 'node:readline/promises';
import type { Readable, Writable } from 'node:stream';
import { deferred, Queues, untilAborted } from '../base/async.ts';
import { messageOf } from '../base/errors.ts';
import { showInvisible } from '../chat/format/escapeMarkers.ts';
import { type CliContext, readCommand, type TerminalAsk, UsageError } from './commandLine.ts';
import { helpText, usageText } from './help.ts';

/** Resolves to the exit status. */
export async function main(argv: readonly string[], context: CliContext): Promise<number> {
  const { out, err, version } = context;
  try {
    const command = readCommand(argv);
    if (command.kind === 'retry') return await (await import('./recovery.ts')).retry(command.chat, context);
    if (command.kind !== 'help' && command.kind !== 'version') {
      // Loaded on demand: nearly all of the code, which --help does not need.
      const { runCommand } = await import('./commands.ts');
      return await runCommand(command, context);
    }
    out(command.kind === 'help' ? helpText(command.about) : version);
    return 0;
  } catch (error) {
    err(messageOf(error));
    if (!(error instanceof UsageError)) return 1;
    err(`\n${usageText(error.about)}`);
    return 2;
  }
}

/** Asks one question at a time: with two, an answer could go to the one that the user does not mean. */
export function askOn(input: Readable, output: Writable): TerminalAsk {
  const questions = new Queues();
  return (question, signal) =>
    untilAborted(
      questions.run('', () => askNow(question, { input, output, signal })),
      signal,
    );
}

async function askNow(
  question: string,
  { input, output, signal }: { input: Readable; output: Writable; signal: AbortSignal },
): Promise<string | undefined> {
  // An ended stream has no further events, so a question would never settle.
  if (input.readableEnded || input.destroyed || signal.aborted) return undefined;
  const terminal = createInterface({ input, output });
  const { promise: closed, resolve } = deferred<undefined>();
  // Ctrl+C, Ctrl+D and the end of the input close the interface without an answer.
  terminal.once('close', () => resolve(undefined));
  try {
    const answer = terminal.question(showInvisible(question), { signal }).catch(() => undefined);
    return await Promise.race([answer, closed]);
  } finally {
    terminal.close();
  }
}
