/**
 * How smooth the real editor stays with a chat of 1,000 turns and 300 assets: what the page and the extension host
 * are busy with at a time, with Filechat and in the same workbench without it, so that one sees what Filechat adds.
 */
import { writeFileSync } from 'node:fs';
import { cpus } from 'node:os';
import { waitForText } from '../host/bridge.ts';
import { activeTab, focusEditor, webview } from '../host/page.ts';
import { runProcess } from '../host/process.ts';
import { type Session, startSession } from '../host/ui/session.ts';
import { checkout } from '../host/workspace.ts';
import { writeLongChat } from './editorChat.ts';
import { type Activation, longestBlock, readActivation } from './editorHost.ts';
import { type Busy, traceTasks } from './editorTrace.ts';

export interface Gesture extends Busy {
  readonly what: string;
  readonly hostMs: number;
}

export interface EditorResults {
  readonly date: string;
  readonly machine: string;
  readonly activation: Activation;
  readonly withFilechat: readonly Gesture[];
  readonly without: readonly Gesture[];
}

const NAME = 'long.chat.md';
const PLAIN = 'plain.md';
const TYPED = 'what of the northern region in the months to come?';
const TYPING_TIMEOUT_MS = 60_000;
const PACKAGE_TIMEOUT_MS = 120_000;
const PREVIEW_TIMEOUT_MS = 60_000;

/** Each does what a user does, and resolves when that has taken effect. */
const GESTURES: Readonly<Record<string, (session: Session) => Promise<void>>> = {
  'opening the chat': (session) => show(session, NAME),
  'typing 50 characters at the end': (session) => typeAt(session, 1, 'First:'),
  'typing 50 characters in the middle': (session) => typeAt(session, 0.5, 'Second:'),
  'folding all and unfolding': async ({ evaluate }) => {
    await evaluate(async (vscode) => {
      await vscode.commands.executeCommand('editor.foldAll');
      await vscode.commands.executeCommand('editor.unfoldAll');
    });
  },
  'scrolling through 40 pages': async ({ page }) => {
    await page.keyboard.press('ControlOrMeta+Home');
    for (let at = 0; at < 40; at += 1) await page.keyboard.press('PageDown');
  },
  'opening the preview': async (session) => {
    await command(session, 'markdown.showPreviewToSide');
    const last = webview(session.page, 'vscode.markdown-language-features').locator('img').last();
    await last.waitFor({ state: 'attached', timeout: PREVIEW_TIMEOUT_MS });
  },
  'typing 50 characters beside the preview': (session) => typeAt(session, 1, 'Third:'),
};

/** What there is only with Filechat. */
const OURS: typeof GESTURES = {
  'opening the gallery': async (session) => {
    await command(session, 'workbench.action.closeEditorsInOtherGroups');
    await command(session, 'filechat.showAssets');
    await session.page.evaluate('new Promise((done) => requestAnimationFrame(() => setTimeout(done)))');
  },
};

export async function measureEditor(): Promise<EditorResults> {
  await runProcess('npm', ['run', '--silent', 'package'], { cwd: checkout, timeoutMs: PACKAGE_TIMEOUT_MS });
  const without = await inSession({ withoutFilechat: true }, (session) => measure(session, GESTURES));
  const [activation, withFilechat] = await inSession({}, async (session) => {
    await show(session, PLAIN);
    return [
      await readActivation(session.evaluate),
      await measure(session, { ...GESTURES, ...OURS }),
    ] as const;
  });
  const machine = `${cpus().length} × ${cpus()[0]?.model ?? 'unknown'}, ${process.platform}`;
  return { date: new Date().toISOString(), machine, activation, withFilechat, without };
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
  for (const [what, gesture] of Object.entries(gestures)) {
    console.error(`editor: ${what}`);
    let hostMs = 0;
    const busy = await traceTasks(session.page, async () => {
      hostMs = await longestBlock(session.evaluate, () => gesture(session));
    });
    results.push({ what, hostMs, ...busy });
  }
  return results;
}

async function show({ page, evaluate, workspace }: Session, name: string): Promise<void> {
  await evaluate(async (vscode, file) => {
    await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: false });
  }, workspace.path(name));
  await activeTab(page, name).waitFor();
  await focusEditor(page);
}

/** Keys one by one at a share of the document, each press as the page takes it. */
async function typeAt({ page, evaluate }: Session, share: number, first: string): Promise<void> {
  await focusEditor(page);
  await evaluate(async (vscode, part) => {
    const document = vscode.window.activeTextEditor?.document;
    if (!document) throw new Error('There is no editor.');
    const { end } = document.lineAt(Math.floor((document.lineCount - 1) * part)).range;
    // Unlike a selection that is set, this is there when it resolves.
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
