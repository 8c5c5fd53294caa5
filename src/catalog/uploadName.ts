import { DEVICE_NAME } from './address.ts';

const MAX_NAME_CHARS = 120;

/** Names that are no names somewhere, that lead elsewhere, or that hide what they are. */
const RULES: readonly (readonly [pattern: RegExp, reason: string])[] = [
  [/^$/, 'it is empty'],
  [/\p{Cs}/u, 'it holds half a character'],
  [/[/\\]/, 'it holds a slash: give one name, without folders'],
  [/:/, 'it holds a colon'],
  [/[\p{Cc}\u2028\u2029]/u, 'it holds a control character'],
  [/\p{Bidi_Control}/u, 'it holds a character that turns the direction of writing'],
  [/^\./, 'it begins with a dot'],
  [/^\s/, 'it begins with a space'],
  [/[.\s]$/, 'it ends with a dot or a space'],
  [DEVICE_NAME, 'it is the name of a device'],
];

/** Why a file cannot be called so; nothing when it can. A name is never repaired: its owner knows it by the other one. */
export function checkUploadName(name: string): string | undefined {
  if (Array.from(name).length > MAX_NAME_CHARS) return `it is longer than ${MAX_NAME_CHARS} characters`;
  return RULES.find(([pattern]) => pattern.test(name))?.[1];
}
