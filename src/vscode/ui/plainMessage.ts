import { showInvisible } from '../../chat/format/escape.ts';

const MAX_MESSAGE_CHARS = 300;

/**
 * Foreign words for a notification, a prompt or a list: one short line. The editor turns `[x](command:…)` into a
 * link that runs a command and `$(x)` into an icon, and a server must be able to make neither.
 */
export function plainMessage(text: string): string {
  const line = showInvisible(text.replace(/\s+/g, ' ').trim());
  const cut = line.length > MAX_MESSAGE_CHARS ? `${line.slice(0, MAX_MESSAGE_CHARS).toWellFormed()}…` : line;
  return cut.replaceAll('](', '] (').replaceAll('$(', '$ (');
}

/** A Markdown link that runs a command. The language's own function leaves brackets alone, and one would end the link. */
export function commandLink(words: string, command: string, argument: object): string {
  const encoded = encodeURIComponent(JSON.stringify([argument]));
  return `[${words}](command:${command}?${encoded.replaceAll('(', '%28').replaceAll(')', '%29')})`;
}
