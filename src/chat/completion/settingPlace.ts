import type { Chat } from '../format/chat.ts';
import { readMarker } from '../format/marker.ts';

import { isSettingKey, type SettingKey } from '../format/settings.ts';

/** A key or value in the front matter. */
export type SettingPlace =
  | {
      readonly kind: 'key';
      readonly start: number;
      /** The end of the word at the cursor. */
      readonly end: number;
      readonly typed: string;
      /** The keys that are already there. */
      readonly present: ReadonlySet<string>;
      readonly hasColon: boolean;
    }
  | {
      readonly kind: 'value';
      readonly key: SettingKey;
      readonly start: number;
      readonly end: number;
      readonly typed: string;
      /** The cursor is right after the colon, so a space must be inserted. */
      readonly needsSpace: boolean;
      /** The value is an item of a list, in brackets or with a dash. */
      readonly inList: boolean;
      /** The other items of the list. */
      readonly taken: readonly string[];
    };

/** Returns `elsewhere` outside the front matter, and `undefined` where it has nothing to complete. */
export function settingPlace(
  text: string,
  chat: Chat,
  offset: number,
): SettingPlace | undefined | 'elsewhere' {
  const bounds = settingBounds(text, chat);
  if (!bounds || offset < bounds.start || offset > bounds.end) return 'elsewhere';
  const lineStart = text.lastIndexOf('\n', offset - 1) + 1;
  const lineEnd = endOfLine(text, offset);
  const line = { before: text.slice(lineStart, offset), after: text.slice(offset, lineEnd), offset };
  const yaml = text.slice(bounds.start, bounds.end);
  return keyPlace(line, yaml) ?? valuePlace(line) ?? itemPlace(line, text.slice(bounds.start, lineStart));
}

interface CursorLine {
  readonly before: string;
  readonly after: string;
  readonly offset: number;
}

const MAX_SETTINGS_CHARS = 100_000;

/** Includes unclosed front matter, which ends where the turns begin. */
function settingBounds(text: string, { frontMatter, frontMatterStart = 0 }: Chat) {
  if (frontMatter !== undefined) {
    // Excludes the closing line.
    const end = frontMatterStart + frontMatter.length - 1;
    return frontMatter.length > MAX_SETTINGS_CHARS ? undefined : { start: frontMatterStart, end };
  }
  if (!/^---[ \t]*\r?\n/.test(text.slice(0, 100))) return undefined;
  const start = text.indexOf('\n') + 1;
  const lines = text.slice(start, start + MAX_SETTINGS_CHARS).split('\n');
  const marker = lines.findIndex((line) => readMarker(line) !== undefined);
  const above = marker < 0 ? lines : lines.slice(0, marker);
  // A blank line also ends it: `---` may be a thematic break above text.
  const blank = above.findIndex((line) => line.trim() === '');
  const open = blank < 0 ? above : above.slice(0, blank + 1);
  return open.length === 0 ? undefined : { start, end: start + open.join('\n').length };
}

function endOfLine(text: string, offset: number): number {
  const end = text.indexOf('\n', offset);
  const line = end < 0 ? text.length : end;
  return line > offset && text[line - 1] === '\r' ? line - 1 : line;
}

function keyPlace({ before, after, offset }: CursorLine, yaml: string): SettingPlace | undefined {
  if (!/^\w*$/.test(before)) return undefined;
  const rest = /^\w*/.exec(after)?.[0] ?? '';
  const present = new Set([...yaml.matchAll(/^(\w+)[ \t]*:/gm)].map(([, key = '']) => key));
  const hasColon = /^\w*[ \t]*:/.test(after);
  // The key at the cursor is being edited.
  if (hasColon) present.delete(before + rest);
  const end = offset + rest.length;
  return { kind: 'key', start: offset - before.length, end, typed: before, present, hasColon };
}

function valuePlace({ before, after, offset }: CursorLine): SettingPlace | undefined {
  const [, key = '', gap = '', value = ''] = /^(\w+)[ \t]*:([ \t]*)(.*)$/.exec(before) ?? [];
  if (!isSettingKey(key)) return undefined;
  const needsSpace = gap === '';
  if (!value.startsWith('[')) {
    // The rest of the line is part of the value, except a comment.
    const rest = /^[^#\s]*/.exec(after)?.[0] ?? '';
    const end = offset + rest.length;
    const start = offset - value.length;
    return { kind: 'value', key, start, end, typed: value, needsSpace, inList: false, taken: [] };
  }
  if (value.includes(']')) return undefined;
  const item = /[^[,]*$/.exec(value)?.[0].trimStart() ?? '';
  const rest = /^[^,\]\s]*/.exec(after)?.[0] ?? '';
  const others = `${value.slice(1, value.length - item.length)},${after.slice(rest.length).split(']')[0]}`;
  const taken = others
    .split(',')
    .map(plainItem)
    .filter((each) => each !== '');
  const start = offset - item.length;
  const end = offset + rest.length;
  return { kind: 'value', key, start, end, typed: item, needsSpace: false, inList: true, taken };
}

function itemPlace({ before, after, offset }: CursorLine, above: string): SettingPlace | undefined {
  const value = /^[ \t]*-[ \t]+(.*)$/.exec(before)?.[1];
  if (value === undefined) return undefined;
  const lines = above.split(/\r?\n/).slice(0, -1);
  const at = lines.findLastIndex((line) => /^\S/.test(line) && !line.startsWith('-'));
  const key = /^(\w+)[ \t]*:[ \t]*$/.exec(lines[at] ?? '')?.[1] ?? '';
  if (!isSettingKey(key)) return undefined;
  const taken = lines.slice(at + 1).map((line) => plainItem(line.replace(/^[ \t]*-[ \t]*/, '')));
  const rest = /^[^#\s]*/.exec(after)?.[0] ?? '';
  const start = offset - value.length;
  const end = offset + rest.length;
  return { kind: 'value', key, start, end, typed: value, needsSpace: false, inList: true, taken };
}

function plainItem(item: string): string {
  return item.trim().replace(/^["']|["']$/g, '');
}
