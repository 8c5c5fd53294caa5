import * as vscode from 'vscode';
import { describeSeconds, plainMessage } from './plainMessage.ts';
import { countSeconds } from './progress.ts';

/** A row without a value cannot be chosen. */
export interface Row<T> extends vscode.QuickPickItem {
  readonly value?: T;
}

interface PickTexts {
  readonly title: string;
  readonly waiting: string;
  readonly question: string;
  readonly nothing: string;
}

/**
 * Shows one list for all servers. It opens at once and grows as they respond, so that no server delays the others.
 * The signal cancels pending requests when the user has chosen or cancelled.
 */
export async function pickGrowing<T>(
  texts: PickTexts,
  servers: readonly string[],
  rowsOf: (server: string, signal: AbortSignal) => Promise<readonly Row<T>[]>,
): Promise<T | undefined> {
  const pick = vscode.window.createQuickPick<Row<T>>();
  const closed = new AbortController();
  pick.title = texts.title;
  pick.placeholder = texts.waiting;
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.keepScrollPosition = true;
  pick.busy = true;
  const chosen = acceptedValue(pick);
  pick.show();
  const clock = countSeconds((seconds) => {
    if (seconds > 0) pick.title = pick.busy ? `${texts.title} · ${describeSeconds(seconds)}` : texts.title;
  });
  try {
    const lists = servers.map((server) => rowsOf(server, closed.signal));
    await Promise.race([fill(pick, texts, lists), chosen]);
    return await chosen;
  } finally {
    closed.abort();
    clock.dispose();
    pick.dispose();
  }
}

/** The rows of one server below its name, with a warning if its list is incomplete. */
export function serverRows<T>(
  server: string,
  rows: readonly Row<T>[],
  failure: string | undefined,
  label = `$(warning) ${vscode.l10n.t('This list is not whole')}`,
): readonly Row<T>[] {
  const all = failure === undefined ? rows : [...rows, { label, detail: plainMessage(failure) }];
  return all.length === 0 ? [] : [{ label: server, kind: vscode.QuickPickItemKind.Separator }, ...all];
}

async function fill<T>(
  pick: vscode.QuickPick<Row<T>>,
  texts: PickTexts,
  lists: readonly Promise<readonly Row<T>[]>[],
): Promise<void> {
  await Promise.all(
    lists.map(async (list) => {
      // A cancelled request adds no rows.
      const rows = await list.catch(() => []);
      pick.placeholder = texts.question;
      if (rows.length === 0) return;
      const active = pick.activeItems;
      pick.items = [...pick.items, ...rows];
      if (active.length > 0) pick.activeItems = active;
    }),
  );
  pick.busy = false;
  pick.title = texts.title;
  if (pick.items.length === 0) pick.placeholder = texts.nothing;
}

function acceptedValue<T>(pick: vscode.QuickPick<Row<T>>): Promise<T | undefined> {
  return new Promise((resolve) => {
    pick.onDidAccept(() => {
      const value = pick.selectedItems[0]?.value;
      if (value !== undefined) resolve(value);
    });
    pick.onDidHide(() => resolve(undefined));
  });
}
