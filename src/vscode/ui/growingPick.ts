import * as vscode from 'vscode';
import { describeSeconds, plainMessage } from './plainMessage.ts';
import { countSeconds } from './progress.ts';

/** A row without `value` and `load` cannot be chosen. */
export interface Row<T> extends vscode.QuickPickItem {
  readonly value?: T;
  /** Loads the rows that replace the list of this one. */
  readonly load?: (signal: AbortSignal) => RowList<T>;
}

type RowList<T> = Promise<readonly Row<T>[]>;

interface PickTexts {
  readonly title: string;
  readonly waiting: string;
  readonly question: string;
  readonly nothing: string;
}

interface PickOptions<T> {
  /** The value whose row is active at first. */
  readonly current?: T | undefined;
  /** Whether the lists keep their order. By default they are in the order of their arrival. */
  readonly inOrder?: boolean;
}

/**
 * Shows several lists as one. It opens at once and grows as the lists arrive, so that none delays the others.
 * The signal cancels pending requests when the user has chosen or cancelled.
 */
export async function pickGrowing<T>(
  texts: PickTexts,
  request: (signal: AbortSignal) => readonly RowList<T>[],
  options: PickOptions<T> = {},
): Promise<T | undefined> {
  const pick = new GrowingPick(texts, options);
  try {
    return await pick.choose(request);
  } finally {
    pick.dispose();
  }
}

/** A request for the list of each server. */
export function perServer<T>(
  servers: readonly string[],
  rowsOf: (server: string, signal: AbortSignal) => RowList<T>,
): (signal: AbortSignal) => readonly RowList<T>[] {
  return (signal) => servers.map((server) => rowsOf(server, signal));
}

/** Rows below a title, or nothing if there are none. */
export function titledRows<T>(title: string, rows: readonly Row<T>[]): readonly Row<T>[] {
  return rows.length === 0 ? [] : [{ label: title, kind: vscode.QuickPickItemKind.Separator }, ...rows];
}

/** The rows of one server below its name, with a warning if its list is incomplete. */
export function serverRows<T>(
  server: string,
  rows: readonly Row<T>[],
  failure: string | undefined,
  label = `$(warning) ${vscode.l10n.t('This list is not whole')}`,
): readonly Row<T>[] {
  return titledRows(
    server,
    failure === undefined ? rows : [...rows, { label, detail: plainMessage(failure) }],
  );
}

class GrowingPick<T> implements vscode.Disposable {
  readonly #pick = vscode.window.createQuickPick<Row<T>>();
  readonly #texts: PickTexts;
  readonly #options: PickOptions<T>;
  readonly #lists = new Map<number, readonly Row<T>[]>();
  readonly #closed = new AbortController();
  /** Shows the elapsed time in the title while lists are pending. */
  #clock: vscode.Disposable | undefined;
  #pending = 0;

  constructor(texts: PickTexts, options: PickOptions<T>) {
    this.#texts = texts;
    this.#options = options;
    this.#pick.title = texts.title;
    this.#pick.placeholder = texts.waiting;
    this.#pick.matchOnDescription = true;
    this.#pick.matchOnDetail = true;
    this.#pick.keepScrollPosition = true;
  }

  dispose(): void {
    this.#closed.abort();
    this.#clock?.dispose();
    this.#pick.dispose();
  }

  choose(request: (signal: AbortSignal) => readonly RowList<T>[]): Promise<T | undefined> {
    return new Promise((resolve) => {
      this.#pick.onDidHide(() => resolve(undefined));
      this.#pick.onDidAccept(() => {
        const [row] = this.#pick.selectedItems;
        if (row?.load) void this.#replace(row, row.load);
        else if (row?.value !== undefined) resolve(row.value);
      });
      this.#pick.show();
      const lists = request(this.#closed.signal);
      if (this.#options.inOrder) for (const at of lists.keys()) this.#lists.set(at, []);
      if (lists.length === 0) this.#pick.placeholder = this.#texts.nothing;
      for (const [at, list] of lists.entries()) void this.#fill(at, list);
    });
  }

  async #replace(row: Row<T>, load: NonNullable<Row<T>['load']>): Promise<void> {
    const [at = -1] = [...this.#lists].find(([, rows]) => rows.includes(row)) ?? [];
    const rows = await this.#fill(at, load(this.#closed.signal));
    const first = rows.find(({ kind }) => kind !== vscode.QuickPickItemKind.Separator);
    if (first && !this.#closed.signal.aborted) this.#pick.activeItems = [first];
  }

  async #fill(at: number, list: RowList<T>): RowList<T> {
    this.#pending += 1;
    this.#pick.busy = true;
    this.#clock ??= countSeconds((seconds) => {
      if (seconds > 0) this.#pick.title = `${this.#texts.title} · ${describeSeconds(seconds)}`;
    });
    // A cancelled request adds no rows.
    const rows = await list.catch(() => []);
    this.#pending -= 1;
    if (!this.#closed.signal.aborted) this.#show(at, rows);
    return rows;
  }

  /** Keeps the typed text and the active row. */
  #show(at: number, rows: readonly Row<T>[]): void {
    const pick = this.#pick;
    const [active = rows.find(({ value }) => value !== undefined && value === this.#options.current)] =
      pick.activeItems;
    this.#lists.set(at, rows);
    pick.items = [...this.#lists.values()].flat();
    if (active) pick.activeItems = [active];
    pick.placeholder = this.#texts.question;
    if (this.#pending > 0) return;
    this.#clock?.dispose();
    this.#clock = undefined;
    pick.busy = false;
    pick.title = this.#texts.title;
    if (pick.items.length === 0) pick.placeholder = this.#texts.nothing;
  }
}
