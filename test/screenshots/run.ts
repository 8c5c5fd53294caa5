/**
 * `npm run screenshots [-- NAME…]`: images of the real workbench in dist/screenshots/, in two themes and two widths.
 * Without names, the UI tests save images of what they show, too.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { say, timed } from '../host/progress.ts';
import { resize, type Session, saveScreenshot, startSession, type Ui, WIDTHS } from '../host/ui/session.ts';
import { activeTab, focusEditor } from '../host/workbench/page.ts';
import type { Settings } from '../host/workbench/server.ts';
import { checkout } from '../host/workspace.ts';
import { SAMPLE_CHAT, writeSampleChat } from './sampleChat.ts';
import { SCENES } from './scenes.ts';

const THEMES = { dark: 'Default Dark Modern', light: 'Default Light Modern' };
const sceneTimeoutMs = 10_000;

/** The server and the model are in the user's settings, so that nothing is confirmed. No request is sent to the model. */
const settings: Settings = {
  'filechat.mcpServers': {
    sample: { command: process.execPath, args: [join(checkout, 'dist', 'sample-server.js')] },
  },
  'filechat.approve': 'auto',
  'filechat.models': {
    harbour: {
      provider: 'openai-compatible',
      model: 'harbour-1',
      baseUrl: 'http://127.0.0.1:9/v1',
      price: { input: 3, output: 15 },
    },
  },
  'editor.wordWrap': 'on',
  // Only suggestions of Filechat.
  'editor.wordBasedSuggestions': 'off',
};

async function main(words: readonly string[]): Promise<void> {
  const scenes = Object.keys(SCENES).filter(
    (name) => words.length === 0 || words.some((word) => name.includes(word)),
  );
  if (scenes.length === 0) throw new Error(`There is no scene ${words.join(' or ')}.`);
  const missing: string[] = [];
  for (const [theme, name] of Object.entries(THEMES)) {
    await using session = await timed(`The workbench has started, ${theme}`, () =>
      startSession({ settings: { ...settings, 'workbench.colorTheme': name } }),
    );
    missing.push(...(await takeAll(session, scenes, theme)));
  }
  if (missing.length === 0) return;
  say(`These scenes failed:\n${missing.join('\n')}`);
  process.exitCode = 1;
}

async function takeAll(session: Session, scenes: readonly string[], theme: string): Promise<string[]> {
  const { page, workspace } = session;
  const missing: string[] = [];
  await writeSampleChat(workspace);
  rmSync(workspace.path('.vscode', 'mcp.json'));
  const text = readFileSync(workspace.path(SAMPLE_CHAT), 'utf8');
  page.setDefaultTimeout(sceneTimeoutMs);
  for (const name of scenes) {
    for (const width of WIDTHS) {
      const title = `${name}-${theme}-${width}`;
      try {
        // Before the scene: a window that changes its size closes hovers.
        await resize(page, width);
        await begin(session, text);
        await SCENES[name]?.(session);
      } catch (error) {
        // The other scenes are still useful, and the screenshot shows the failure.
        missing.push(`${title}: ${error instanceof Error ? error.message.split('\n')[0] : error}`);
      }
      await settle(session);
      await saveScreenshot(page, title);
    }
  }
  return missing;
}

/** Opens only the sample chat, with its original text and the cursor at its end. */
async function begin({ page, evaluate, workspace }: Ui, text: string): Promise<void> {
  await page.keyboard.press('Escape');
  await evaluate(async (vscode) => {
    await vscode.commands.executeCommand('filechat.stop');
    const open = vscode.window.activeTextEditor?.document.isDirty;
    if (open) await vscode.commands.executeCommand('workbench.action.files.revert');
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.commands.executeCommand('notifications.clearAll');
    await vscode.commands.executeCommand('workbench.view.explorer');
  });
  writeFileSync(workspace.path(SAMPLE_CHAT), text);
  await evaluate(async (vscode, path) => {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(path));
    const end = document.lineAt(document.lineCount - 1).range.end;
    await vscode.window.showTextDocument(document, {
      preview: false,
      selection: new vscode.Range(end, end),
    });
    // An editor remembers folded regions of its file.
    await vscode.commands.executeCommand('editor.unfoldAll');
    await vscode.commands.executeCommand('cursorBottom');
  }, workspace.path(SAMPLE_CHAT));
  await activeTab(page, SAMPLE_CHAT).waitFor();
  await focusEditor(page);
}

/** The extension host has responded. */
async function settle({ evaluate }: Ui): Promise<void> {
  await evaluate((vscode) => void vscode.window.activeTextEditor);
}

/** No assertion depends on the images, so a failure is one of the tests. */
async function runUiTests(): Promise<void> {
  const env = { ...process.env, FILECHAT_SCREENSHOTS: '1' };
  const tests = spawn(process.execPath, [join(checkout, 'test', 'run.ts'), 'ui'], { env, stdio: 'inherit' });
  const [code] = await once(tests, 'close');
  if (code !== 0) process.exitCode = 1;
}

const words = process.argv.slice(2);
await main(words);
if (words.length === 0) await runUiTests();
