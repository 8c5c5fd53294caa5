import * as vscode from 'vscode';
import type { ServerState } from '../../../../src/ports/servers.ts';

/** A secret store that can be looked into. */
export class MemorySecrets implements vscode.SecretStorage {
  readonly kept = new Map<string, string>();
  readonly onDidChange = new vscode.EventEmitter<vscode.SecretStorageChangeEvent>().event;

  async get(name: string) {
    return this.kept.get(name);
  }
  async store(name: string, value: string) {
    this.kept.set(name, value);
  }
  async delete(name: string) {
    this.kept.delete(name);
  }
  async keys() {
    return [...this.kept.keys()];
  }
}

/** What an extension keeps between two starts, for one test. */
export class MemoryState implements vscode.Memento {
  readonly #kept = new Map<string, unknown>();

  keys(): readonly string[] {
    return [...this.#kept.keys()];
  }
  get<T>(key: string): T | undefined;
  get<T>(key: string, fallback: T): T;
  get<T>(key: string, fallback?: T): T | undefined {
    return (this.#kept.get(key) as T | undefined) ?? fallback;
  }
  async update(key: string, value: unknown): Promise<void> {
    this.#kept.set(key, value);
  }
}

/** A running server with tools and resources. */
export const READY: ServerState = {
  kind: 'ready',
  about: {
    name: 'a',
    version: '1.0',
    protocol: '2025-11-25',
    offers: {
      tools: true,
      resources: true,
      subscriptions: true,
      prompts: false,
      completions: false,
      logging: false,
    },
  },
};
