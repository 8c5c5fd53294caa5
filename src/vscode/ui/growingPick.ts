import * as vscode from 'vscode';
import { describeSeconds } from './elapsed.ts';
import { countSeconds } from './progress.ts';

/** A row of a list; one without a value is there to be read. */
export interface Row<T> extends vscode.QuickPickItem {
  readonly value?: T;
}

export interface PickWords {
  readonly title: string;
  readonly waiting: string;
  readonly question: string;
  readonly nothing: string;
}

/**
 * One list of what all servers have. It opens at once and grows as the servers answer, so that none waits for
 * another. The signal ends what is still being asked when the user has chosen or given up.
 */
export async function pickGrowing<T>(
  words: PickWords,
  ask: (signal: AbortSignal) => readonly Promise<readonly Row<T>[]>[],
): Promise<T | undefined> {
  const pick = vscode.window.createQuickPick<Row<T>>();
  const asking = new AbortController();
  pick.title = words.title;
  pick.placeholder = words.waiting;
  pick.matchOnDescription = true;
  pick.matchOnDetail = true;
  pick.keepScrollPosition = true;
  pick.busy = true;
  const chosen = acceptedValue(pick);
  pick.show();
  const clock = countSeconds((seconds) => {
    if (seconds > 0) pick.title = pick.busy ? `${words.title} · ${describeSeconds(seconds)}` : words.title;
  });
  try {
    const filled = fill(pick, words, ask(asking.signal));
    await Promise.race([filled, chosen]);
    return await chosen;
  } finally {
    asking.abort();
    clock.dispose();
    pick.dispose();
  }
}

async function fill<T>(
  pick: vscode.QuickPick<Row<T>>,
  words: PickWords,
  lists: readonly Promise<readonly Row<T>[]>[],
): Promise<void> {
  await Promise.all(
    lists.map(async (list) => {
      // Who is not asked any more has nothing to add.
      const rows = await list.catch(() => []);
      pick.placeholder = words.question;
      if (rows.length === 0) return;
      const active = pick.activeItems;
      pick.items = [...pick.items, ...rows];
      if (active.length > 0) pick.activeItems = active;
    }),
  );
  pick.busy = false;
  pick.title = words.title;
  if (pick.items.length === 0) pick.placeholder = words.nothing;
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
