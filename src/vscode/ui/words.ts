/** How a message of ours becomes one in the user's language; `{0}` stands for the first of what is told. */
export type Translate = (message: string, ...told: (string | number | boolean)[]) => string;

let translate: Translate = (message, ...told) =>
  message.replace(/\{(\d+)\}/g, (whole, number: string) => String(told[Number(number)] ?? whole));

let language = 'en';

/** Called once, by the editor. In plain Node, where texts are tested, messages stay as they are written. */
export function useTranslation(given: Translate, givenLanguage = 'en'): void {
  translate = given;
  language = givenLanguage;
}

/** For modules that make texts and do not know the editor; the others say `vscode.l10n.t`. */
export function t(message: string, ...told: (string | number | boolean)[]): string {
  return translate(message, ...told);
}

/** A large number as the user writes it. */
export function figure(value: number): string {
  return value.toLocaleString(language);
}
