/** `{0}` in the message is replaced by the first argument. */
export type Translate = (message: string, ...args: (string | number | boolean)[]) => string;

const english: Translate = (message, ...args) =>
  message.replace(/\{(\d+)\}/g, (whole, index: string) => String(args[Number(index)] ?? whole));

let translate = english;
let language = 'en';

/** Called once, in the editor. In plain Node, messages stay English, as after a call without arguments. */
export function useTranslation(given = english, givenLanguage = 'en'): void {
  translate = given;
  language = givenLanguage;
}

/** For modules that do not import `vscode`; all others use `vscode.l10n.t`. */
export function t(message: string, ...args: (string | number | boolean)[]): string {
  return translate(message, ...args);
}

export function formatNumber(value: number): string {
  return value.toLocaleString(language);
}
