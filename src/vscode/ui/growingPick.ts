import * as vscode from 'vscode';
import { describeSeconds, plainMessage } from './plainMessage.ts';
import { countSeconds } from './progress.ts';

/** A row without `value` cannot be chosen. */
export interface Row<T> extends vscode.QuickPickItem {
  readonly value?: T;
  readonly buttons?: readonly RowButton<T>[];
}

/** A button that chooses its value instead of the row's. */
export interface RowButton<T> extends vscode.QuickInputButton {
  readonly value: T;
}

type RowList<T> = Promise<readonly Row<T>[]>;

interface PickTexts {
  readonly title: string;
  readonly waiting: string;
  readonly question: string;
  readonly nothing: string;
}

/** The number of a page among those of a flow. */
export interface Step {
  readonly step: number;
  readonly totalSteps: number;
}

interface PickOptions<T> {
  /** Whether a value's row is active at first. */
  readonly isCurrent?: (value: T) => boolean;
  /** Whether the lists keep their order. By default they are in the order of their arrival. */
  readonly inOrder?: boolean;
  /** Whether the first row stays the active one when a list arrives above it, until the user moves. */
  readonly staysOnTop?: boolean;
  /** The value of the Back button, which is shown only with a value. */
  readonly back?: T;
  readonly step?: Step;
  /** Keeps the page until the next one is shown. */
  readonly pages?: Pages;
}

/**
 * The pages of a flow, one after the other. A page stays until the next one replaces it, because in between the focus
 * would be in the editor, and text that is typed or pasted meanwhile would go into the chat.
 */
export class Pages implements vscode.Disposable {
  #last: vscode.Disposable | undefined;

  /** Called when a page has been answered. */
  keep(page: vscode.Disposable): void {
    this.#last?.dispose();
    this.#last = page;
  }

  dispose(): void {
    this.#last?.dispose();
  }
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
    if (options.pages) options.pages.keep(pick);
    else pick.dispose();
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
  label = `$(warning) ${vscode.l10n.t('This list is incomplete')}`,
): readonly Row<T>[] {
  return titledRows(
    server,
    failure === undefined ? rows : [...rows, { label, detail: plainMessage(failure) }],
  );
}

/** A row for something that a server offers, with its description below it. */
export function offerRow<T extends { readonly description?: string }>(
  icon: string,
  label: string,
  description: string | undefined,
  value: T,
): Row<T> {
  return {
    label: `$(${icon}) ${plainMessage(label)}`,
    description: plainMessage(description ?? ''),
    detail: plainMessage(value.description ?? ''),
    value,
  };
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
  /** The row that is active until the user moves. */
  #first: Row<T> | undefined;

  constructor(texts: PickTexts, options: PickOptions<T>) {
    this.#texts = texts;
    this.#options = options;
    this.#pick.title = texts.title;
    this.#pick.placeholder = texts.waiting;
    this.#pick.matchOnDescription = true;
    this.#pick.matchOnDetail = true;
    this.#pick.keepScrollPosition = true;
    if (options.back !== undefined) this.#pick.buttons = [vscode.QuickInputButtons.Back];
    // Otherwise a look at another window would lose what was entered on the pages before.
    this.#pick.ignoreFocusOut = options.back !== undefined;
    Object.assign(this.#pick, options.step);
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
        if (row?.value !== undefined) resolve(row.value);
      });
      this.#pick.onDidTriggerButton(() => resolve(this.#options.back));
      this.#pick.onDidTriggerItemButton(({ item, button }) =>
        resolve(item.buttons?.find((each) => each === button)?.value),
      );
      this.#pick.show();
      const lists = request(this.#closed.signal);
      if (this.#options.inOrder) for (const at of lists.keys()) this.#lists.set(at, []);
      if (lists.length === 0) this.#pick.placeholder = this.#texts.nothing;
      for (const [at, list] of lists.entries()) void this.#fill(at, list);
    });
  }

  async #fill(at: number, list: RowList<T>): Promise<void> {
    this.#pending += 1;
    this.#pick.busy = true;
    this.#clock ??= countSeconds((seconds) => {
      if (seconds > 0) this.#pick.title = `${this.#texts.title} · ${describeSeconds(seconds)}`;
    });
    // A cancelled request adds no rows.
    const rows = await list.catch(() => []);
    this.#pending -= 1;
    if (!this.#closed.signal.aborted) this.#show(at, rows);
  }

  /** Keeps the typed text and the active row. */
  #show(at: number, rows: readonly Row<T>[]): void {
    const pick = this.#pick;
    const { isCurrent = () => false, staysOnTop = false } = this.#options;
    const choices = rows.filter(({ value }) => value !== undefined);
    const top = pick.items.find(({ kind }) => kind !== vscode.QuickPickItemKind.Separator);
    // The editor tells which row is active only after a while.
    const current = choices.find(({ value }) => value !== undefined && isCurrent(value));
    this.#first ??= current ?? (staysOnTop ? undefined : choices[0]);
    const [active = this.#first] = staysOnTop
      ? pick.activeItems.filter((row) => row !== top)
      : pick.activeItems;
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
