import * as vscode from 'vscode';
import { describeServer } from '../../mcp/config/fingerprint.ts';
import type { InputDefinition } from '../../mcp/config/inputs.ts';
import type { ServerConfig } from '../../mcp/config/types.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { withToken } from '../ui/progress.ts';

interface InputRequest {
  /** Where the server is configured. Inputs are never shared between places. */
  readonly place: string;
  readonly id: string;
  readonly server: string;
  /** As it is written, before variables are expanded. */
  readonly config: ServerConfig;
  readonly definition?: InputDefinition | undefined;
}

const PREFIX = 'input ';
/** An undeclared input may be a secret, so its value is masked. */
const UNDECLARED: InputDefinition = { kind: 'text', password: true };

/** The values of `${input:…}` variables, in VS Code's secret store. The user is asked for each value once. */
export class ServerInputs {
  readonly #secrets: vscode.SecretStorage;
  /** A second input box would close the first, so requests are queued. */
  #queue: Promise<unknown> = Promise.resolve();
  readonly #cancelled = new Set<string>();

  constructor(secrets: vscode.SecretStorage) {
    this.#secrets = secrets;
  }

  /** Resolves to undefined on abort, or when the user cancels. A cancelled input is not asked for until `askAgain`. */
  async get(request: InputRequest, signal?: AbortSignal): Promise<string | undefined> {
    const key = keyOf(request.place, request.id);
    const stored = await this.#secrets.get(key);
    if (stored !== undefined) return stored;
    const value = this.#queue.then(async () => {
      // The request before this one may have asked for the same input.
      const given = await this.#secrets.get(key);
      const isOver = signal?.aborted || this.#cancelled.has(key);
      return given ?? (isOver ? undefined : this.#ask(request, signal));
    });
    this.#queue = value.catch(() => {});
    return value;
  }

  askAgain(): void {
    this.#cancelled.clear();
  }

  async set(place: string, id: string, value: string): Promise<void> {
    await this.#secrets.store(keyOf(place, id), value);
  }

  async forgetFor(place: string, ids: readonly string[]): Promise<void> {
    for (const key of ids.map((id) => keyOf(place, id))) {
      this.#cancelled.delete(key);
      await this.#secrets.delete(key);
    }
  }

  async forget(): Promise<void> {
    const keys = (await this.#secrets.keys()).filter((key) => key.startsWith(PREFIX));
    await Promise.all(keys.map((key) => this.#secrets.delete(key)));
  }

  async #ask(request: InputRequest, signal: AbortSignal | undefined): Promise<string | undefined> {
    const value = await withToken(signal, (token) => showQuestion(request, token));
    if (value !== undefined) await this.set(request.place, request.id, value);
    else if (!signal?.aborted) this.#cancelled.add(keyOf(request.place, request.id));
    return value;
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
    password && text === '' ? vscode.l10n.t('Paste the value, or press Escape to cancel.') : undefined;
  const options = { title, prompt, password, value, ignoreFocusOut: true, validateInput };
  return vscode.window.showInputBox(options, token);
}

/** Our own text first: the description in the configuration may be long, and may imitate ours. */
function describeInput(config: ServerConfig, description: string | undefined): string {
  const [receiver = ''] = describeServer(config).split('\n');
  const purpose = vscode.l10n.t(
    'Stored in the secret storage of VS Code and passed to: {0}',
    plainMessage(receiver),
  );
  return description
    ? vscode.l10n.t('{0} — The configuration says: {1}', purpose, plainMessage(description))
    : purpose;
}
