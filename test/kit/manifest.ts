import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const root = join(import.meta.dirname, '../..');

/** The texts of package.json in a language, by their keys: English unless another is named. */
export function readTexts(language?: string): Readonly<Record<string, string>> {
  return JSON.parse(readFileSync(join(root, `package.nls${language ? `.${language}` : ''}.json`), 'utf8'));
}

/** package.json as an editor in English sees it: with the text in the place of each `%key%`. */
export function readManifest() {
  const texts = readTexts();
  return JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'), (_key, value: unknown) => {
    const key = typeof value === 'string' ? /^%(.+)%$/.exec(value)?.[1] : undefined;
    return key === undefined ? value : (texts[key] ?? value);
  });
}

interface SettingsGroup {
  readonly title: string;
  readonly order: number;
  readonly properties: Readonly<Record<string, Readonly<Record<string, unknown>>>>;
}

/** The groups of settings, as the settings editor shows them. */
export function readSettingsGroups(): readonly SettingsGroup[] {
  return readManifest().contributes.configuration;
}

/** The schemas of all settings, by their whole names. */
export function readSettingSchemas(): SettingsGroup['properties'] {
  return Object.assign({}, ...readSettingsGroups().map(({ properties }) => properties));
}
