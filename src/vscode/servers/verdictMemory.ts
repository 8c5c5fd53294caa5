import type * as vscode from 'vscode';
import type { Verdict, VerdictStore } from '../../mcp/connection/knownProtocols.ts';

const REMEMBERED = 'server.verdicts';
/** Configurations come and go; the oldest verdicts are dropped. */
const MAX_VERDICTS = 200;

/** Verdicts that outlive the window. */
export class VerdictMemory implements VerdictStore {
  readonly #memory: vscode.Memento;

  constructor(memory: vscode.Memento) {
    this.#memory = memory;
  }

  read(fingerprint: string): Verdict | undefined {
    return this.#all().get(fingerprint);
  }

  write(fingerprint: string, verdict: Verdict | undefined): void {
    const all = this.#all();
    if (verdict === undefined && !all.has(fingerprint)) return;
    all.delete(fingerprint);
    if (verdict !== undefined) all.set(fingerprint, verdict);
    void this.#memory.update(REMEMBERED, Object.fromEntries([...all].slice(-MAX_VERDICTS)));
  }

  #all(): Map<string, Verdict> {
    return new Map(Object.entries(this.#memory.get<Readonly<Record<string, Verdict>>>(REMEMBERED, {})));
  }
}
