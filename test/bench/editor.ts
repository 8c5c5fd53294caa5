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
const TYPED = 'What of the northern region in the months to come? ';
const PACKAGE_TIMEOUT_MS = 120_000;
const PREVIEW_TIMEOUT_MS = 60_000;

/** Each does what a user does, and resolves when that has taken effect. */
const GESTURES: Readonly<Record<string, (session: Session) => Promise<void>>> = {
  'opening the chat': (session) => show(session, NAME),
  'typing 50 characters at the end': (session) => typeAt(session, 1),
  'typing 50 characters in the middle': (session) => typeAt(session, 0.5),
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
  'typing beside the preview': (session) => typeAt(session, 1),
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
async function typeAt({ page, evaluate }: Session, share: number): Promise<void> {
  await focusEditor(page);
  await evaluate((vscode, part) => {
    const editor = vscode.window.activeTextEditor;
    if (!editor) throw new Error('There is no editor.');
    const line = Math.floor((editor.document.lineCount - 1) * part);
    const at = editor.document.lineAt(line).range.end;
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(editor.selection);
  }, share);
  await page.keyboard.type(TYPED.slice(0, 50));
  await waitForText(evaluate, TYPED.slice(0, 50));
}

async function command({ evaluate }: Session, name: string): Promise<void> {
  await evaluate(async (vscode, id) => void (await vscode.commands.executeCommand(id)), name);
}
