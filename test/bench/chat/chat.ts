import { messageOf } from '../../../src/base/errors.ts';
import type { BenchOutcome } from '../frame.ts';
import { type ChatRow, renderRows } from './chatReport.ts';
import { measureSpeed } from './chatSpeed.ts';
import { measureStreams } from './chatStream.ts';
import { measureTokens } from './chatTokens.ts';

const PARTS: Readonly<Record<string, () => Promise<readonly ChatRow[]>>> = {
  'the speed of reading': measureSpeed,
  'the tokens of binary results': measureTokens,
  'replies in VS Code': measureStreams,
};

/** A part that fails does not prevent the others. Missed targets do not fail the bench. */
export async function benchChats(): Promise<BenchOutcome> {
  const rows: ChatRow[] = [];
  const failures: string[] = [];
  for (const [name, measure] of Object.entries(PARTS)) {
    console.error(`chat: ${name}`);
    try {
      rows.push(...(await measure()));
    } catch (error) {
      failures.push(`${name}: ${messageOf(error)}`);
    }
  }
  const report = [renderRows(rows), ...failures].join('\n');
  return { figures: { rows, failures }, report, passed: failures.length === 0 };
}
