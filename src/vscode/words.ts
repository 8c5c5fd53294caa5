/** How a message of ours becomes one in the user's language; `{0}` stands for the first of what is told. */
export type Translate = (message: string, ...told: (string | number | boolean)[]) => string;

let translate: Translate = (message, ...told) =>
  message.replace(/\{(\d+)\}/g, (whole, number: string) => String(told[Number(number)] ?? whole));

/** Called once, by the editor. In plain Node, where texts are tested, messages stay as they are written. */
export function useTranslation(given: Translate): void {
  translate = given;
}

/** For modules that make texts and do not know the editor; the others say `vscode.l10n.t`. */
export function t(message: string, ...told: (string | number | boolean)[]): string {
  return translate(message, ...told);
}
