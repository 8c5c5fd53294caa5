import { trimBlankLines } from '../../base/lines.ts';
import { withoutComments } from '../../chat/format/comments.ts';
import { parseChat } from '../../chat/format/parse.ts';
import { type ChatSettings, readSettings } from '../../chat/format/settings.ts';

/** An agent is a file `.filechat/NAME.md`: settings at the top, and below them what the model is told. */
export interface Agent {
  readonly settings: ChatSettings;
  readonly system: string;
}

/** Letters and digits of any language, `_` and `-`: nothing that could lead to another folder. */
const AGENT_NAME = /^[\p{L}\p{N}_][\p{L}\p{N}_-]{0,63}$/u;
const DEVICE = /^(?:con|prn|aux|nul|com\d|lpt\d)$/i;

export function isAgentName(name: string): boolean {
  return AGENT_NAME.test(name) && !DEVICE.test(name);
}

export function readAgent(text: string): Agent {
  const plain = text.replace(/^\uFEFF/, '');
  const chat = parseChat(plain);
  const { frontMatter = '', frontMatterStart = 0 } = chat;
  const body = plain.slice(frontMatterStart + frontMatter.length);
  // What is left of the front matter is the line that closes it.
  const system = frontMatterStart > 0 ? body.replace(/^---[ \t]*(?:\r?\n|$)/, '') : body;
  return { settings: readSettings(chat).settings, system: trimBlankLines(withoutComments(system)).trim() };
}
