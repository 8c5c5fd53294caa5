import type * as vscode from 'vscode';
import { envKey, keyPlace } from '../../model/config/keys.ts';
import type { ModelConfig } from '../../model/config/modelConfig.ts';

const PREFIX = 'key ';

type Endpoint = Pick<ModelConfig, 'provider' | 'baseUrl'>;

/** API keys in the secret store. A key is bound to the address it was entered for, even if the model's address changes. */
export class Keys {
  readonly #secrets: vscode.SecretStorage;

  constructor(secrets: vscode.SecretStorage) {
    this.#secrets = secrets;
  }

  /** An empty key says that the endpoint needs none. */
  async get(endpoint: Endpoint): Promise<string | undefined> {
    return (await this.#secrets.get(PREFIX + keyPlace(endpoint)))?.trim();
  }

  /** The stored key, or one of the environment, which is only sent to the provider's own address. */
  async find(config: ModelConfig): Promise<string | undefined> {
    const stored = await this.get(config);
    return stored ?? (config.baseUrl === undefined ? envKey(config, process.env) : undefined);
  }

  async set(endpoint: Endpoint, key: string): Promise<void> {
    // Not every secret storage keeps an empty text.
    await this.#secrets.store(PREFIX + keyPlace(endpoint), key || ' ');
  }

  async remove(endpoint: Endpoint): Promise<void> {
    await this.#secrets.delete(PREFIX + keyPlace(endpoint));
  }
}
