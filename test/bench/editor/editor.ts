/** How long the page and the extension host are blocked in the real editor with a long chat, with and without Filechat. */
import { writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { waitForText } from '../../host/bridge.ts';
import { runProcess } from '../../host/process.ts';
import { type Session, startSession } from '../../host/ui/session.ts';
import { activeTab, focusEditor, imageWidth, webview } from '../../host/workbench/page.ts';
import { checkout } from '../../host/workspace.ts';
import { alignColumns, type BenchOutcome } from '../frame.ts';
import { ASSETS, TURNS, writeLongChat } from './editorChat.ts';
import { type Activation, type HostBusy, readActivation, watchHost } from './editorHost.ts';
import { LONG_MS, type PageBusy, traceTasks } from './editorTrace.ts';

interface Trial extends PageBusy {
  readonly host: HostBusy;
}

interface Gesture {
  readonly what: string;
  readonly trials: readonly Trial[];
}

interface EditorFigures {
  readonly activation: Activation;
  readonly withFilechat: readonly Gesture[];
  readonly without: readonly Gesture[];
}

interface Plan {
  /** Prepares the editor; not measured. */
  readonly prepare?: (session: Session) => Promise<void>;
  /** Acts as a user, and resolves when that has taken effect. */
  readonly act: (session: Session, trial: number) => Promise<void>;
}

const NAME = 'long.chat.md';
const PLAIN = 'plain.md';
const TYPED = 'what of the northern region in the months to come?';
const TRIALS = 3;
/** Longer than all delays until the user pauses. */
const SETTLE_MS = 1_000;
const TYPING_TIMEOUT_MS = 60_000;
const PACKAGE_TIMEOUT_MS = 120_000;
const WEBVIEW_TIMEOUT_MS = 60_000;
/** Pixels at a time. */
const WHEEL = 400;
const PREVIEW = 'vscode.markdown-language-features';
const GALLERY = 'filechat.filechat';

const GESTURES: Readonly<Record<string, Plan>> = {
  'opening the chat': {
    prepare: async (session) => {
      await command(session, 'workbench.action.closeAllEditors');
      await show(session, PLAIN);
    },
    act: (session) => show(session, NAME),
  },
  'typing 50 characters at the end': { act: (session, trial) => typeAt(session, 1, `First ${trial}:`) },
  'typing 50 characters in the middle': { act: (session, trial) => typeAt(session, 0.5, `Second ${trial}:`) },
  'folding all and unfolding': {
    act: async ({ evaluate }) => {
      await evaluate(async (vscode) => {
        await vscode.commands.executeCommand('editor.foldAll');
        await vscode.commands.executeCommand('editor.unfoldAll');
      });
    },
  },
  'scrolling through 40 pages': {
    act: async ({ page }) => {
      await page.keyboard.press('ControlOrMeta+Home');
      for (let at = 0; at < 40; at += 1) await page.keyboard.press('PageDown');
    },
  },
  // For comparison: the gallery opens in such a group.
  'opening an empty group beside': {
    prepare: closeOthers,
    act: (session) => command(session, 'workbench.action.newGroupRight'),
  },
  'opening the preview': {
    prepare: closeOthers,
    act: async (session) => {
      await command(session, 'markdown.showPreviewToSide');
      const last = webview(session.page, PREVIEW).locator('img').last();
      await last.waitFor({ state: 'attached', timeout: WEBVIEW_TIMEOUT_MS });
    },
  },
  'typing 50 characters beside the preview': {
    act: (session, trial) => typeAt(session, 1, `Third ${trial}:`),
  },
};

/** Available only with Filechat. */
const OURS: typeof GESTURES = {
  'opening the gallery': { prepare: closeOthers, act: openGallery },
  'scrolling through the gallery': {
    prepare: async ({ page }) => {
      await webview(page, GALLERY).locator('img').first().hover();
      await page.mouse.wheel(0, -WHEEL * 1_000);
    },
    act: async ({ page }) => {
      for (let at = 0; at < 20; at += 1) await page.mouse.wheel(0, WHEEL);
    },
  },
  'typing 50 characters beside the gallery': {
    act: (session, trial) => typeAt(session, 1, `Fourth ${trial}:`),
  },
};

async function openGallery(session: Session): Promise<void> {
  await command(session, 'filechat.showAssets');
  const first = webview(session.page, GALLERY).locator('img').first();
  await first.waitFor({ timeout: WEBVIEW_TIMEOUT_MS });
  await imageWidth(first);
}

async function closeOthers(session: Session): Promise<void> {
  await focusEditor(session.page);
  await command(session, 'workbench.action.closeEditorsInOtherGroups');
  await command(session, 'workbench.action.joinAllGroups');
  await focusEditor(session.page);
  await session.page.locator('iframe.webview').waitFor({ state: 'detached' });
}

export async function benchEditor(): Promise<BenchOutcome> {
  await runProcess('npm', ['run', '--silent', 'package'], { cwd: checkout, timeoutMs: PACKAGE_TIMEOUT_MS });
  const without = await inSession({ withoutFilechat: true }, (session) => measure(session, GESTURES));
  const figures = await inSession({}, async (session) => {
    await show(session, PLAIN);
    const activation = await readActivation(session.evaluate);
    return { activation, withFilechat: await measure(session, { ...GESTURES, ...OURS }), without };
  });
  return { figures, report: renderReport(figures), passed: true };
}

async function inSession<T>(
  options: { readonly withoutFilechat?: boolean },
  work: (session: Session) => Promise<T>,
): Promise<T> {
  await using session = await startSession(options);
  writeLongChat(session.workspace.folder, NAME);
  writeFileSync(session.workspace.path(PLAIN), '# A list\n\n- bread\n- cheese\n');
  return await work(session);
}

async function measure(session: Session, gestures: typeof GESTURES): Promise<Gesture[]> {
  const results: Gesture[] = [];
  for (const [what, plan] of Object.entries(gestures)) {
    console.error(`editor: ${what}`);
    const trials: Trial[] = [];
    for (let trial = 1; trial <= TRIALS; trial += 1) trials.push(await tryOnce(session, plan, trial));
    results.push({ what, trials });
  }
  return results;
}

async function tryOnce(session: Session, { prepare, act }: Plan, trial: number): Promise<Trial> {
  await prepare?.(session);
  let host: HostBusy = { longestMs: 0, oursMs: 0, oursTotalMs: 0 };
  const busy = await traceTasks(session.page, async () => {
    host = await watchHost(session.evaluate, async () => {
      await act(session, trial);
      // Delayed work disturbs the user too.
      await setTimeout(SETTLE_MS);
    });
  });
  return { ...busy, host };
}

async function show({ page, evaluate, workspace }: Session, name: string): Promise<void> {
  await evaluate(async (vscode, file) => {
    await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: false });
  }, workspace.path(name));
  await activeTab(page, name).waitFor();
  await focusEditor(page);
}

/** Types key by key at a share of the document. */
async function typeAt({ page, evaluate }: Session, share: number, first: string): Promise<void> {
  await focusEditor(page);
  await evaluate(async (vscode, part) => {
    const document = vscode.window.activeTextEditor?.document;
    if (!document) throw new Error('There is no editor.');
    const { end } = document.lineAt(Math.floor((document.lineCount - 1) * part)).range;
    // Unlike a set selection, this has taken effect when it resolves.
    await vscode.window.showTextDocument(document, { selection: new vscode.Range(end, end) });
  }, share);
  await focusEditor(page);
  const text = `${first} ${TYPED}`.slice(0, 50);
  await page.keyboard.type(text);
  await waitForText(evaluate, text, TYPING_TIMEOUT_MS);
}

async function command({ evaluate }: Session, name: string): Promise<void> {
  await evaluate(async (vscode, id) => void (await vscode.commands.executeCommand(id)), name);
}

/** For each: the median of the trials and the maximum. */
const FIGURES: readonly (readonly [string, (trial: Trial) => number])[] = [
  ['workbench', ({ workbench }) => workbench.longestMs],
  ['CPU', ({ workbench }) => workbench.cpuMs],
  ['webview', ({ webviews }) => webviews.longestMs],
  ['CPU', ({ webviews }) => webviews.cpuMs],
  ['host', ({ host }) => host.longestMs],
  ['ours', ({ host }) => host.oursMs],
  ['all ours', ({ host }) => host.oursTotalMs],
];

function renderReport({ activation, withFilechat, without }: EditorFigures): string {
  const bare = new Map(without.map((gesture) => [gesture.what, gesture]));
  const { loadMs, callMs, finishMs, event } = activation;
  const size = `${TURNS.toLocaleString('en')} turns and ${ASSETS} assets`;
  return [
    `The editor with a chat of ${size}.`,
    'In milliseconds, the median and the maximum of the trials: the longest task of the workbench and its CPU time, the',
    'same for previews and galleries; the longest block of the extension host, the longest and the total time of',
    `Filechat's code in it. The last column counts the tasks over ${LONG_MS} ms in all trials.`,
    '',
    alignColumns([
      ['', ...FIGURES.map(([name]) => name), `> ${LONG_MS} ms`],
      ...withFilechat.flatMap((gesture) => {
        const other = bare.get(gesture.what);
        return [
          [gesture.what, ...figures(gesture)],
          ...(other ? [['  without Filechat', ...figures(other)]] : []),
        ];
      }),
    ]),
    '',
    `Opening a plain Markdown file starts Filechat (${event}): ${loadMs} ms to load its code, ${callMs} ms to activate, ${finishMs} ms until that has settled.`,
    '',
  ].join('\n');
}

function figures({ trials }: Gesture): string[] {
  const long = trials.map(({ workbench, webviews }) => workbench.long + webviews.long);
  return [
    ...FIGURES.map(([, read]) => medianAndMax(trials.map((trial) => read(trial)))),
    String(long.reduce((sum, each) => sum + each, 0)),
  ];
}

function medianAndMax(times: readonly number[]): string {
  const inOrder = times.toSorted((a, b) => a - b);
  const median = inOrder[Math.floor(inOrder.length / 2)] ?? 0;
  return `${median.toFixed(0)} / ${(inOrder.at(-1) ?? 0).toFixed(0)}`;
}
