import type * as vscode from 'vscode';
import { rememberable, stillKnown } from '../../mcp/callArguments/remembered.ts';
import type { ToolInfo } from '../../ports/tools.ts';
import type { Answers } from '../ui/wizard.ts';

const STORAGE_KEY = 'tools.lastArguments';
const MAX_REMEMBERED = 50;

interface Remembered {
  /** The fingerprint of the server. */
  readonly print: string;
  readonly arguments: Answers;
}

/** The last arguments that the user gave to each tool, in this workspace. */
export class LastArguments {
  readonly #memory: vscode.Memento;
  readonly #fingerprint: (server: string) => Promise<string>;

  constructor(memory: vscode.Memento, fingerprint: (server: string) => Promise<string>) {
    this.#memory = memory;
    this.#fingerprint = fingerprint;
  }

  /** Undefined if there are none, or the server has changed. */
  async of(tool: ToolInfo): Promise<Answers | undefined> {
    const found = this.#all().get(keyOf(tool));
    if (!found || found.print !== (await this.#fingerprint(tool.server))) return undefined;
    const known = stillKnown(tool.inputSchema, found.arguments);
    return Object.keys(known).length === 0 ? undefined : known;
  }

  async remember(tool: ToolInfo, given: Answers): Promise<void> {
    const all = this.#all();
    all.delete(keyOf(tool));
    const kept = rememberable(tool.inputSchema, given);
    if (kept) all.set(keyOf(tool), { print: await this.#fingerprint(tool.server), arguments: kept });
    await this.#memory.update(STORAGE_KEY, Object.fromEntries([...all].slice(-MAX_REMEMBERED)));
  }

  async forget(): Promise<void> {
    await this.#memory.update(STORAGE_KEY, undefined);
  }

  #all(): Map<string, Remembered> {
    return new Map(Object.entries(this.#memory.get<Readonly<Record<string, Remembered>>>(STORAGE_KEY, {})));
  }
}

function keyOf({ server, tool }: ToolInfo): string {
  return `${server}.${tool}`;
}
