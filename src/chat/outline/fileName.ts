import { DEVICE_NAME } from '../../base/assetNames.ts';
import { titleFor } from './title.ts';

const MAX_STEM_CHARS = 40;

/** More words than a name can hold, so that the limits of names apply instead of those of titles. */
const MAX_QUESTION_CHARS = 200;

/**
 * A file name from the first question of a chat, without its extension: words of letters and digits in lower case,
 * joined by hyphens. Undefined if the question has none.
 */
export function stemFor(text: string): string | undefined {
  const words = titleFor(text, MAX_QUESTION_CHARS)
    ?.normalize('NFC')
    .toLowerCase()
    .replace(/\b[a-z][a-z0-9+.-]*:\/\/(?:www\.)?([^\s/?#]+)\S*/g, '$1')
    .replace(/(?<=\p{L})['’](?=\p{L})/gu, '')
    .match(/[\p{L}\p{N}\p{M}]+/gu);
  const stem = words ? joinWords(words) : '';
  return stem === '' || DEVICE_NAME.test(stem) || DEFAULT_STEM.test(stem) ? undefined : stem;
}

/** As many whole words as fit, or the beginning of the first. */
function joinWords([first = '', ...others]: readonly string[]): string {
  let stem = [...first].slice(0, MAX_STEM_CHARS).join('');
  for (const word of others) {
    const longer = `${stem}-${word}`;
    if ([...longer].length > MAX_STEM_CHARS) break;
    stem = longer;
  }
  return stem;
}

/** The stem of a new chat, perhaps with a number. */
export const DEFAULT_STEM = /^new(?:-\d+)?$/;
