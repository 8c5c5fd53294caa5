import { cpus } from 'node:os';
import { measureSpeed } from './chatSpeed.ts';
import { measureStreams } from './chatStream.ts';
import { measureTokens } from './chatTokens.ts';
import type { ChatResults, ChatRow } from './chatTypes.ts';

const PARTS: Readonly<Record<string, () => Promise<readonly ChatRow[]>>> = {
  'the speed of reading': measureSpeed,
  'the tokens of binary results': measureTokens,
  'replies in VS Code': measureStreams,
};

/** All that is measured of chats, part by part; a part that fails leaves the others as they are. */
export async function measureChats(): Promise<ChatResults> {
  const rows: ChatRow[] = [];
  const failures: string[] = [];
  for (const [name, measure] of Object.entries(PARTS)) {
    console.error(`chat: ${name}`);
    try {
      rows.push(...(await measure()));
    } catch (error) {
      failures.push(`${name}: ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${process.platform}`;
  return { date: new Date().toISOString(), node: process.version, machine, rows, failures };
}
