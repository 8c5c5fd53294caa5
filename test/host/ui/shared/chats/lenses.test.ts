import assert from 'node:assert/strict';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { after } from 'node:test';
import { fileURLToPath } from 'node:url';
import type { Page } from 'playwright-core';
import { encodePng } from '../../../../../samples/server/encode/png.ts';
import { encodeWav } from '../../../../../samples/server/encode/wav.ts';
import { type Evaluate, waitForText } from '../../../bridge.ts';
import { createTemporaryFolder, waitFor } from '../../../process.ts';
import {
  activeTab,
  button,
  codeLens,
  dialog,
  focusEditor,
  imageWidth,
  pick,
  toast,
  waitForNoNote,
  waitForNote,
} from '../../../workbench/page.ts';
import { answerCall } from '../../consent.ts';
import { heldModel } from '../../heldModel.ts';
import { takeInBothThemes, takeScreenshot, type Ui, uiSession } from '../../session.ts';

const program = fileURLToPath(new URL('../../slow-server.mjs', import.meta.url));
const folder = createTemporaryFolder('lenses');
after(() => folder.dispose());
const pidFile = join(folder.path, 'pid');
const servers = {
  slow: { command: process.execPath, args: [program] },
  never: { command: process.execPath, args: [program, pidFile] },
};
const ui = uiSession({ settings: { 'filechat.mcpServers': servers } });
const model = heldModel();

const ALONE = '---\nservers: []\n---\n';

/** Opens a chat with this text, the cursor at its end. */
async function openText({ page, evaluate, workspace }: Ui, name: string, text: string): Promise<void> {
  writeFileSync(workspace.path(name), text);
  await evaluate(async (vscode, path) => {
    const document = await vscode.workspace.openTextDocument(path);
    const end = document.positionAt(document.getText().length);
    await vscode.window.showTextDocument(document, { preview: false, selection: new vscode.Range(end, end) });
  }, workspace.path(name));
  await activeTab(page, name).waitFor();
  await focusEditor(page);
}

/** Puts the cursor after the first occurrence of some words, and asks for the hover there. */
async function hoverAt({ page, evaluate }: Ui, words: string): Promise<ReturnType<Page['locator']>> {
  await evaluate(async (vscode, wanted) => {
    const editor = vscode.window.activeTextEditor;
    if (!editor) throw new Error('No editor.');
    const at = editor.document.positionAt(editor.document.getText().indexOf(wanted) + wanted.length);
    editor.selection = new vscode.Selection(at, at);
    editor.revealRange(editor.selection);
    await vscode.commands.executeCommand('editor.action.showHover', { focus: 'noAutoFocus' });
  }, words);
  const hover = page.locator('.monaco-editor .monaco-hover:not(.hidden)').filter({ visible: true });
  await hover.first().waitFor();
  return hover.first();
}

const textOf = (evaluate: Evaluate) =>
  evaluate((vscode) => vscode.window.activeTextEditor?.document.getText() ?? '');

ui.test('a lens regenerates a reply, and a running chat shows the elapsed time', async (session) => {
  const { page, evaluate } = session;
  await model.use(evaluate);
  await openText(session, 'again.chat.md', `${ALONE}# %% user\nHow many?`);
  await codeLens(page, 'Run').click();
  const first = await model.next();
  first.say('Four, as far as anybody knows.');
  await waitForText(evaluate, 'Four, as');
  await codeLens(page, 'Stop').waitFor();
  // The figures are drawn after the line, where only the style sheet knows them.
  await waitForNote(page, '[1-9]\\d* s · ≈8 tokens');
  await takeInBothThemes(session, 'running-turn');
  await evaluate(async (vscode) => {
    const { uri } = vscode.window.activeTextEditor?.document ?? {};
    const rename = new vscode.WorkspaceEdit();
    if (uri) rename.renameFile(uri, vscode.Uri.joinPath(uri, '..', 'renamed.chat.md'));
    await vscode.workspace.applyEdit(rename);
  });
  await activeTab(page, 'renamed.chat.md').waitFor();
  await waitForNote(page, '[1-9]\\d* s · ≈8 tokens');
  first.finish();
  await waitForText(evaluate, 'knows.\n\n# %% user\n');
  await codeLens(page, 'Stop').waitFor({ state: 'detached' });
  await waitForNoNote(page, '\\d s');

  await codeLens(page, 'Regenerate').click();
  const second = await model.next();
  assert.doesNotMatch(second.body, /Four/);
  second.say('Five.');
  second.finish();
  const text = await waitForText(evaluate, '# %% assistant\nFive.\n\n# %% user\n');
  assert.equal(text, `${ALONE}# %% user\nHow many?\n\n# %% assistant\nFive.\n\n# %% user\n`);
});

ui.test('turns below an earlier reply are removed only after a confirmation', async (session) => {
  const { page, evaluate } = session;
  const chat = `${ALONE}# %% user\nOne?\n\n# %% assistant\nEins.\n\n# %% user\nTwo?\n\n# %% assistant\nZwei.\n\n# %% user\nThree?\n`;
  await openText(session, 'earlier.chat.md', chat);
  const again = () => page.locator('.codelens-decoration a', { hasText: 'Regenerate' }).first();
  const question = page.getByPlaceholder('There are turns below this reply.');
  await again().click();
  await question.waitFor();
  await takeScreenshot(page, 'regenerate-earlier-reply');
  await page.keyboard.press('Escape');
  await question.waitFor({ state: 'hidden' });
  assert.equal(await textOf(evaluate), chat);

  await again().click();
  await pick(page, 'There are turns below this reply.', 'Fork to a New Chat');
  const forked = await model.next();
  forked.say('Uno.');
  forked.finish();
  await activeTab(page, 'earlier-fork.chat.md').waitFor();
  const fork = await waitForText(evaluate, 'Uno.\n\n# %% user\n');
  assert.equal(fork, `${ALONE}# %% user\nOne?\n\n# %% assistant\nUno.\n\n# %% user\n`);

  await openText(session, 'earlier.chat.md', chat);
  await again().click();
  await pick(page, 'There are turns below this reply.', 'Replace Turns Below');
  const replaced = await model.next();
  replaced.say('Un.');
  replaced.finish();
  await waitForText(evaluate, 'Un.\n\n# %% user\n');
  assert.doesNotMatch(await textOf(evaluate), /Two\?|Three\?/);
  await focusEditor(page);
  await waitFor('undo to bring everything back', 15_000, async () => {
    await evaluate((vscode) => vscode.commands.executeCommand('undo'));
    return (await textOf(evaluate)) === chat ? true : undefined;
  });
});

ui.test('a lens leads to the arguments of a pending call', async (session) => {
  const { page, evaluate } = session;
  const call = '```tool_call slow.large c1\n{"megabytes": 3}\n```\n';
  await openText(session, 'call.chat.md', `${ALONE}# %% user\nDraw.\n\n# %% assistant\n${call}\n# %% user\n`);
  await codeLens(page, 'Run 1 Tool Call').waitFor();
  await takeInBothThemes(session, 'lenses-of-a-call');
  await codeLens(page, 'Edit Arguments').click();
  const line = () =>
    evaluate((vscode) => {
      const { document, selection } = vscode.window.activeTextEditor ?? {};
      return document?.lineAt(selection?.active.line ?? 0).text;
    });
  await waitFor('the cursor', 10_000, async () => ((await line()) === '{"megabytes": 3}' ? true : undefined));
  await openText(session, 'nothing.chat.md', `${ALONE}# %% user\nHello.\n`);
  await evaluate((vscode) => vscode.commands.executeCommand('filechat.editArguments'));
  await toast(page, 'No pending tool calls in this chat.').waitFor();
  await evaluate((vscode) => vscode.commands.executeCommand('notifications.clearAll'));
});

const PICTURE = 'tool-image-20261116-093012-V1StGXR8a0-1.png';
const SOUND = 'tool-audio-20261116-093012-V1StGXR8a0-1.wav';

ui.test('hovers show images and the duration of audio, and a reference opens its file', async (session) => {
  const { page, evaluate, workspace } = session;
  mkdirSync(workspace.path('cmdassets'), { recursive: true });
  writeFileSync(workspace.path('cmdassets', PICTURE), encodePng(gradient(640, 360)));
  const samples = new Float64Array(8000 * 2.5);
  writeFileSync(workspace.path('cmdassets', SOUND), encodeWav({ samples, sampleRate: 8000 }));
  const links = `![A gradient](cmdassets/${PICTURE})\n\n[Silence](cmdassets/${SOUND})\n\n[Gone](cmdassets/gone.png)`;
  const argument = `{"image": "asset:${PICTURE}"}`;
  await openText(
    session,
    'links.chat.md',
    `${ALONE}# %% user\n${links}\n\n\`\`\`tool_call slow.large\n${argument}\n\`\`\`\n`,
  );
  const hover = await hoverAt(session, '![A grad');
  assert.equal(await imageWidth(hover.locator('img')), 640);
  await hover.getByText('640 × 360 pixels').waitFor();
  await hover.getByRole('link', { name: 'Show in Gallery' }).waitFor();
  await hover.getByText('A gradient', { exact: true }).waitFor();
  await takeInBothThemes(session, 'hover-of-a-picture');
  await page.keyboard.press('Escape');
  // Over the target, the editor shows the image itself.
  const target = await hoverAt(session, '![A gradient](cmdassets/tool');
  await target.getByText('640 × 360 pixels').waitFor();
  await target.locator('img').first().waitFor();
  assert.equal(await target.locator('img').count(), 1);
  await page.keyboard.press('Escape');
  const sound = await hoverAt(session, '[Sile');
  await sound.getByText(/Audio \(audio\/wav\) · 2\.5 s · /).waitFor();
  await takeScreenshot(page, 'hover-of-a-sound');
  await page.keyboard.press('Escape');
  await (await hoverAt(session, '[Go')).getByText('does not exist').waitFor();
  await page.keyboard.press('Escape');

  await hoverAt(session, 'asset:tool-im').then((reference) =>
    reference.getByText('640 × 360 pixels').waitFor(),
  );
  await page.keyboard.press('Escape');
  await waitFor('the link', 10_000, async () => {
    await evaluate((vscode) => vscode.commands.executeCommand('editor.action.openLink'));
    return (await activeTab(page, PICTURE).isVisible()) || undefined;
  });
});

ui.test('a resource is read by a call, by a click above its link, and opens on click', async (session) => {
  const { page, evaluate, workspace } = session;
  const docs = new URL('../../../../integration/fixtures/resources-server.mjs', import.meta.url);
  const configuration = workspace.path('.vscode', 'mcp.json');
  mkdirSync(workspace.path('.vscode'), { recursive: true });
  const server = { command: process.execPath, args: [fileURLToPath(docs)] };
  writeFileSync(configuration, JSON.stringify({ servers: { docs: server } }));
  const link = '> Resource `notes` at `docs://notes/a%20b`, type `text/markdown`';
  const call = '```tool_call filechat.read_resource c2\n{"server": "docs", "uri": "docs://self"}\n```\n';
  await openText(session, 'resources.chat.md', `# %% tool docs.find c1\n${link}\n\n# %% user\n${call}`);
  await codeLens(page, 'Run 1 Tool Call').click();
  await answerCall(page, 'filechat.read_resource');
  await button(dialog(page, 'This workspace wants to start a program'), 'Allow').click();
  await waitForText(evaluate, '> From `docs://self`');
  await evaluate((vscode) => vscode.commands.executeCommand('cursorTop'));
  // The resource has a line that looks like a link; it is code there.
  assert.equal(await codeLens(page, 'Read into Chat').count(), 1);
  await takeScreenshot(page, 'lens-of-a-resource');
  await codeLens(page, 'Read into Chat').click();
  await waitForText(evaluate, '> From `docs://notes/a%20b` (`text/markdown`)');
  await hoverAt(session, 'docs://notes').then((hover) => hover.getByText('Open the resource').waitFor());
  await page.keyboard.press('Escape');
  await evaluate((vscode) => vscode.commands.executeCommand('editor.action.openLink'));
  await activeTab(page, 'a b.md').waitFor();
  const isShown = async () => (await textOf(evaluate)) === '# Notes' || undefined;
  await waitFor('the text of the resource', 10_000, isShown);
  rmSync(configuration);
});

ui.test('a long result with a file that could not be saved stays open, with Retry', async (session) => {
  const copy = '/recovered/tool-file-20261117-101010-V1StGXR8a0-1.pdf';
  const problem = `> ⚠ Could not save file 1 to cmdassets/: it is full. It is kept in ${copy} until Retry saves it.`;
  const lines = 'A line of the result.  \n'.repeat(40);
  await openText(session, 'unsaved.chat.md', `${ALONE}# %% tool a.b c1\n${lines}\n${problem}\n\n# %% user\n`);
  await codeLens(session.page, 'Retry').waitFor();
});

ui.test('the hover of a tool shows its description as plain text', async (session) => {
  const { page, evaluate } = session;
  await openText(
    session,
    'tools.chat.md',
    `---\nservers: [slow]\ntools: [slow.large, "slow.*"]\n---\n# %% user\nHi\n`,
  );
  const unknown = await hoverAt(session, 'slow.la');
  await unknown.getByText('No information about').waitFor();
  await takeScreenshot(page, 'hover-of-an-unknown-tool');
  await unknown.getByRole('link', { name: 'Start Server' }).click();
  await waitFor('the server', 20_000, async () => {
    await page.keyboard.press('Escape');
    const hover = await hoverAt(session, 'slow.la');
    return (await hover.getByText('A large picture').isVisible()) || undefined;
  });
  const known = page.locator('.monaco-editor .monaco-hover:not(.hidden)').filter({ visible: true }).first();
  await known.getByRole('cell', { name: 'megabytes' }).waitFor();
  await known.getByText('plain | fancy | a|b').waitFor();
  assert.equal(await known.locator('a, b:text-is("now")').count(), 0);
  await takeInBothThemes(session, 'hover-of-a-tool');
  await page.keyboard.press('Escape');
  await (await hoverAt(session, '"slow.')).getByText('matches these tools').waitFor();
  await page.keyboard.press('Escape');
  await evaluate((vscode) => vscode.commands.executeCommand('notifications.clearAll'));
});

ui.test('a large result shows the received size, and Cancel ends the call', async (session) => {
  const { page, evaluate } = session;
  const call = '```tool_call slow.large c1\n{"megabytes": 3}\n```\n';
  await openText(session, 'large.chat.md', `---\nservers: [slow]\n---\n# %% user\n${call}`);
  await codeLens(page, 'Run 1 Tool Call').click();
  await answerCall(page, 'slow.large');
  const notice = toast(page, /slow\.large · [1-9]\d* s · 3\.0 MB received/);
  await notice.waitFor();
  await takeInBothThemes(session, 'progress-with-bytes');
  await button(notice, 'Cancel').click();
  await waitForText(evaluate, 'The call was stopped before its result arrived.');
  await notice.waitFor({ state: 'detached' });
});

ui.test('a file of 10 MiB and more is named in a warning, whose button shows it', async (session) => {
  const { page, evaluate } = session;
  const call = '```tool_call slow.large c1\n{"megabytes": 15, "waits": false}\n```\n';
  await openText(session, 'tenMiB.chat.md', `---\nservers: [slow]\n---\n# %% user\n${call}`);
  await codeLens(page, 'Run 1 Tool Call').click();
  await answerCall(page, 'slow.large');
  const warning = toast(
    page,
    /Large files from slow\.large: cmdassets\/tool-image-[\w-]+-1\.png \(11\.3 MB\)\./,
  );
  await warning.waitFor();
  await waitForText(evaluate, '![Tool generated image 1](cmdassets/tool-image-');
  assert.equal(await warning.count(), 1);
  await button(warning, 'Show Assets').click();
  await page.getByRole('tab', { name: 'Assets of tenMiB' }).waitFor();
});

ui.test('Cancel stops a server that does not respond', async ({ page, evaluate }) => {
  const started = evaluate((vscode) =>
    vscode.commands.executeCommand('filechat.startServer', { server: 'never' }),
  );
  const notice = toast(page, /Starting never · [1-9]\d* s/);
  await notice.waitFor();
  const pid = Number(readFileSync(pidFile, 'utf8'));
  await button(notice, 'Cancel').click();
  await started;
  await waitFor('its process to end', 15_000, async () => (isAlive(pid) ? undefined : true));
  assert.equal(await toast(page, 'could not be started').count(), 0);
});

function isAlive(pid: number): boolean {
  try {
    return process.kill(pid, 0);
  } catch {
    return false;
  }
}

function gradient(width: number, height: number) {
  const pixels = new Uint8ClampedArray(width * height * 4);
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      pixels.set([(x / width) * 255, (y / height) * 255, 160, 255], (y * width + x) * 4);
    }
  }
  return { width, height, pixels };
}
