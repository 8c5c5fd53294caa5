import * as vscode from 'vscode';
import { describeServer } from '../../mcp/config/fingerprint.ts';
import type { InputDefinition } from '../../mcp/config/inputs.ts';
import type { ServerConfig } from '../../mcp/config/types.ts';

import { plainMessage } from '../ui/plainMessage.ts';

/** What is asked for, by whom, and where it is configured: the inputs of one place are unknown to all others. */
export interface InputRequest {
  readonly place: string;
  readonly id: string;
  readonly server: string;
  /** Of the server, as it is written. */
  readonly config: ServerConfig;
  readonly definition?: InputDefinition | undefined;
}

const PREFIX = 'input ';
/** Nothing is known of it, so nobody should be able to read it over a shoulder. */
const UNDECLARED: InputDefinition = { kind: 'text', password: true };

/** What servers need to be told before they start, in the editor's secret store. Each is asked for once. */
export class ServerInputs {
  readonly #secrets: vscode.SecretStorage;
  /** A second box would close the first, so each waits for the one before it. */
  #last: Promise<unknown> = Promise.resolve();
  /** What the user would not say just now. */
  readonly #givenUp = new Set<string>();

  constructor(secrets: vscode.SecretStorage) {
    this.#secrets = secrets;
  }

  /** Resolves to nothing when the user gives up, which holds until `askAgain`, or when the signal says so. */
  async get(request: InputRequest, signal?: AbortSignal): Promise<string | undefined> {
    const kept = await this.#kept(request);
    if (kept !== undefined) return kept;
    const turn = this.#last.then(async () => {
      // The one before may have been asked for the same.
      const given = await this.#kept(request);
      const isOver = signal?.aborted || this.#givenUp.has(keyOf(request.place, request.id));
      return given ?? (isOver ? undefined : this.#ask(request, signal));
    });
    this.#last = turn.catch(() => {});
    return turn;
  }

  /** The user has started something anew. */
  askAgain(): void {
    this.#givenUp.clear();
  }

  async set(place: string, id: string, value: string): Promise<void> {
    await this.#secrets.store(keyOf(place, id), value);
  }

  /** These will be asked for again, by every server of the place that needs them. */
  async forgetFor(place: string, ids: readonly string[]): Promise<void> {
    for (const key of ids.map((id) => keyOf(place, id))) {
      this.#givenUp.delete(key);
      await this.#secrets.delete(key);
    }
  }

  /** Every input will be asked for again. */
  async forget(): Promise<void> {
    const keys = (await this.#secrets.keys()).filter((key) => key.startsWith(PREFIX));
    await Promise.all(keys.map((key) => this.#secrets.delete(key)));
  }

  #kept({ place, id }: InputRequest): Thenable<string | undefined> {
    return this.#secrets.get(keyOf(place, id));
  }

  async #ask(request: InputRequest, signal: AbortSignal | undefined): Promise<string | undefined> {
    const source = new vscode.CancellationTokenSource();
    const cancel = () => source.cancel();
    signal?.addEventListener('abort', cancel);
    try {
      const value = await showQuestion(request, source.token);
      if (value !== undefined) await this.set(request.place, request.id, value);
      else if (!signal?.aborted) this.#givenUp.add(keyOf(request.place, request.id));
      return value;
    } finally {
      signal?.removeEventListener('abort', cancel);
      source.dispose();
    }
  }
}

function keyOf(place: string, id: string): string {
  return `${PREFIX}${JSON.stringify([place, id])}`;
}

async function showQuestion(
  { id, server, config, definition = UNDECLARED }: InputRequest,
  token: vscode.CancellationToken,
): Promise<string | undefined> {
  const title = vscode.l10n.t('The MCP server “{0}” needs {1}', plainMessage(server), plainMessage(id));
  const prompt = describeInput(config, definition.description);
  if (definition.kind === 'choice') {
    const items = definition.options.map(({ label, value }) => ({ label: plainMessage(label), value }));
    const options = { title, placeHolder: prompt, ignoreFocusOut: true };
    return (await vscode.window.showQuickPick(items, options, token))?.value;
  }
  const { password, default: value = '' } = definition;
  const validateInput = (text: string) =>
    password && text === '' ? vscode.l10n.t('Paste the value, or press Escape.') : undefined;
  const options = { title, prompt, password, value, ignoreFocusOut: true, validateInput };
  return vscode.window.showInputBox(options, token);
}

/** Our own words first: those of the configuration may be long, and may be made to look like ours. */
function describeInput(config: ServerConfig, description: string | undefined): string {
  const [receiver = ''] = describeServer(config).split('\n');
  const purpose = vscode.l10n.t(
    'Kept in the secret store of VS Code, and given to: {0}',
    plainMessage(receiver),
  );
  return description
    ? vscode.l10n.t('{0} — The configuration says: {1}', purpose, plainMessage(description))
    : purpose;
}
