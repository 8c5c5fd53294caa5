import { whyRefused } from '../config/addresses.ts';

/** Longer addresses cannot be shown whole, and nobody may open what was not shown. */
const MAX_URL_CHARS = 4000;

/** The address that a server wants the user to visit, if it is one that may be opened at all. Else throws a sentence. */
export function checkElicitationUrl(text: string): URL {
  if (text.length > MAX_URL_CHARS)
    throw new Error('The address is too long to be shown, so it is not opened.');
  if (!URL.canParse(text)) throw new Error('The address is not a URL.');
  const url = new URL(text);
  const reason = whyRefused(url);
  if (reason !== undefined) throw new Error(`The address is not opened: ${reason}.`);
  return url;
}
