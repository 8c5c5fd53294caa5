import { showInvisible } from '../../chat/format/escape.ts';
import { fence } from '../../chat/format/fence.ts';
import type { ToolName } from '../../ports.ts';
import { codeSpan } from '../../result/inline.ts';

/**
 * What an app says, for a turn of the user's. In a fence it starts no turn, makes no call, attaches no file and loads
 * nothing; and the line above says to the model and to the reader whose words they are.
 */
export function quoteForChat({ server, tool }: ToolName, words: string): string {
  const text = showInvisible(words.replaceAll('\r\n', '\n'));
  return `From the app of ${codeSpan(tool)} (${codeSpan(server)}):\n\n${fence(text)}`;
}
