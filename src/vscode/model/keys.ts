import * as vscode from 'vscode';
import { showInvisible } from '../../chat/format/escape.ts';
import { keyPlace } from '../../model/config/keys.ts';
import type { ModelConfig } from '../../model/config/models.ts';
import { plainMessage } from '../ui/plainMessage.ts';

const PREFIX = 'key ';

/** API keys in the secret store. A key is bound to the address it was entered for, even if the model's address changes. */
export class Keys {
  readonly #secrets: vscode.SecretStorage;

  constructor(secrets: vscode.SecretStorage) {
    this.#secrets = secrets;
  }

  async get(config: ModelConfig): Promise<string | undefined> {
    return this.#secrets.get(PREFIX + keyPlace(config));
  }

  async set(config: ModelConfig, key: string): Promise<void> {
    await this.#secrets.store(PREFIX + keyPlace(config), key);
  }

  /** Asks for the key and stores it. Resolves to undefined if the user cancels. */
  async ask(config: ModelConfig): Promise<string | undefined> {
    const place = keyPlace(config);
    const answer = await vscode.window.showInputBox({
      title: vscode.l10n.t('API key for {0}', plainMessage(config.name)),
      prompt: vscode.l10n.t(
        'It is kept in the secret store of VS Code and sent only to {0}',
        showInvisible(address(place)),
      ),
      placeHolder: vscode.l10n.t('Paste the key'),
      password: true,
      ignoreFocusOut: true,
      validateInput: checkKey,
    });
    const key = answer?.trim();
    if (!key) return undefined;
    await this.set(config, key);
    return key;
  }
}

/** The part after the provider's name, or the name if the provider has no address. */
function address(place: string): string {
  return place.slice(place.indexOf(' ') + 1);
}

function checkKey(text: string): string | undefined {
  const key = text.trim();
  if (key === '') return vscode.l10n.t('Paste the key, or press Escape.');
  if (/\s/.test(key)) return vscode.l10n.t('A key has no white space in it. Paste only the key.');
  // The key becomes an HTTP header.
  return /[^\x21-\x7e]/.test(key)
    ? vscode.l10n.t('A key has only plain letters, digits and signs. Copy it again.')
    : undefined;
}
