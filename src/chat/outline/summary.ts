import { visibleLine } from '../../base/lines.ts';
import { parseChat } from '../format/parse.ts';
import { readSettings } from '../format/settings.ts';
import { titleFor } from './title.ts';

const MAX_GIVEN_TITLE_CHARS = 100;
const ASSET_LINK = /\]\((cmdassets\/[^()\s]+)\)/g;

/** What a list says of a chat. */
export interface ChatSummary {
  readonly model?: string;
  readonly turns: number;
  readonly assets: number;
}

/** The title that the chat gives itself, else its first words. The beginning of a chat is enough. */
export function chatTitle(text: string): string | undefined {
  const { title } = readSettings(parseChat(text)).settings;
  const line = title && visibleLine(title);
  return line ? [...line].slice(0, MAX_GIVEN_TITLE_CHARS).join('') : titleFor(text);
}

export function summarizeChat(text: string): ChatSummary {
  const chat = parseChat(text);
  const { model } = readSettings(chat).settings;
  const links = Array.from(text.matchAll(ASSET_LINK), ([, target]) => target);
  return { ...(model && { model }), turns: chat.turns.length, assets: new Set(links).size };
}
