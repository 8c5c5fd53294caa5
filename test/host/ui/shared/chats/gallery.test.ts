import assert from 'node:assert/strict';
import { existsSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { unzipSync } from 'fflate';
import type { FrameLocator, Locator } from 'playwright-core';
import { drawChart } from '../../../../../samples/server/chart.ts';
import { encodePng } from '../../../../../samples/server/encode/png.ts';
import { encodeWav } from '../../../../../samples/server/encode/wav.ts';
import { renderMelody } from '../../../../../samples/server/melody.ts';
import { writeReport } from '../../../../../samples/server/report.ts';
import { untilNextHost } from '../../../bridge.ts';
import { waitFor } from '../../../process.ts';
import {
  button,
  dialog,
  imageWidth,
  quickInput,
  waitForWorkbench,
  webview,
} from '../../../workbench/page.ts';
import { assertAccessible, frameWith } from '../../accessible.ts';
import { startCanary } from '../../hostileRepository.ts';
import { takeScreenshot, type Ui, uiSession, useTheme } from '../../session.ts';

const canary = startCanary();
const ui = uiSession({ settings: { 'files.autoSave': 'off', 'workbench.editor.enablePreview': false } });

const name = (kind: string, number: number, extension: string) =>
  `tool-${kind}-20261116-093012-V1StGXR8a0-${number}.${extension}`;
const CHART = name('image', 1, 'png');
const LINE = name('image', 2, 'png');
const PHOTO = name('image', 3, 'png');
const SPEECH = name('audio', 1, 'wav');
const REPORT = name('file', 1, 'pdf');
const TABLE = name('file', 2, 'csv');
const ARCHIVE = name('file', 3, 'zip');
const LEFT_OVER = name('file', 4, 'json');

/** What users see instead of the file names. */
const TITLES: Readonly<Record<string, string>> = {
  [CHART]: 'Image 1 of charts.bar',
  [LINE]: 'Image 2 of charts.bar',
  [PHOTO]: 'Image 3 of studio.make',
  [SPEECH]: 'Audio 1 of studio.make',
  [REPORT]: 'report.pdf',
  [TABLE]: 'File 2 of studio.make',
  [ARCHIVE]: 'File 3 of studio.make',
  [LEFT_OVER]: 'File 4',
};
const titleOf = (file: string) => TITLES[file] ?? file;

const chart = (style: 'bars' | 'line') =>
  encodePng(drawChart({ title: 'Sales by month', values: [3, 8, 5, 9, 12, 7], style }));
const notes = [440, 494, 523, 587, 659].map((hertz) => ({ hertz, seconds: 2.4 }));
const FILES: Readonly<Record<string, Uint8Array | string>> = {
  [CHART]: chart('bars'),
  [LINE]: chart('line'),
  [PHOTO]: encodePng(drawChart({ title: 'Photo', values: [1, 2, 3], style: 'line' })),
  [SPEECH]: encodeWav(renderMelody(notes, 16_000)),
  [REPORT]: writeReport(),
  [TABLE]: `month,sales,returns\n${Array.from({ length: 40 }, (_, at) => `2026-${at + 1},${at * 37},${at % 5}`).join('\n')}\n`,
  [ARCHIVE]: new Uint8Array(5_000),
  [LEFT_OVER]: '{\n  "nobody": "links to this"\n}\n',
};

function fill(workspace: Ui['workspace']): void {
  const folder = workspace.path('sales', 'cmdassets');
  mkdirSync(folder, { recursive: true });
  for (const [file, bytes] of Object.entries(FILES)) writeFileSync(join(folder, file), bytes);
  writeFileSync(workspace.path('sales', 'sales.chat.md'), CHAT);
  writeFileSync(workspace.path('sales', 'other.chat.md'), '# %% user\nNothing here.\n');
}

const CHAT = `# %% user
Show me the sales.

# %% assistant
\`\`\`tool_call charts.bar a1
{"title": "Sales"}
\`\`\`

# %% tool charts.bar a1
![Tool generated image 1](cmdassets/${CHART})

![Tool generated image 2](cmdassets/${LINE})

# %% assistant
\`\`\`tool_call studio.make a2
{"from": "asset:${CHART}"}
\`\`\`

# %% tool studio.make a2
![Tool generated image 3](cmdassets/${PHOTO})

[Tool generated audio 1](cmdassets/${SPEECH})

[Tool generated file 1: report.pdf](cmdassets/${REPORT})

[Tool generated file 2](cmdassets/${TABLE})

[Tool generated file 3](cmdassets/${ARCHIVE})
`;

function gallery({ page }: Ui): FrameLocator {
  return webview(page, 'filechat.filechat');
}

/** A tile, by the name of its file or by what a screen reader says of it. */
function tile(session: Ui, label: string): Locator {
  return gallery(session).locator('[role=gridcell]', { hasText: titleOf(label) });
}

/** As a run does at its end. The editor's watcher may not know a folder yet that has just come. */
async function saveChat({ evaluate, workspace }: Ui): Promise<void> {
  await evaluate(
    async (vscode, path) => {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.file(path));
      const edit = new vscode.WorkspaceEdit();
      edit.insert(document.uri, document.positionAt(document.getText().length), '\n');
      await vscode.workspace.applyEdit(edit);
      await document.save();
    },
    workspace.path('sales', 'sales.chat.md'),
  );
}

/** Opens a chat in the first group, with the cursor where the words begin. */
async function openAt({ evaluate, workspace }: Ui, path: string, words: string): Promise<void> {
  await evaluate(
    async (vscode, file, at) => {
      const document = await vscode.workspace.openTextDocument(vscode.Uri.file(file));
      const editor = await vscode.window.showTextDocument(document, vscode.ViewColumn.One);
      const place = document.positionAt(document.getText().indexOf(at));
      editor.selection = new vscode.Selection(place, place);
    },
    workspace.path(path),
    words,
  );
}

async function show({ evaluate }: Ui): Promise<void> {
  await evaluate((vscode) => vscode.commands.executeCommand('filechat.showAssets'));
}

/** The gallery of the chat as it is at first, whatever was done before. */
async function openGallery(session: Ui): Promise<void> {
  await closeAll(session);
  fill(session.workspace);
  await openAt(session, 'sales/sales.chat.md', '[Tool generated audio 1]');
  await show(session);
  await tile(session, SPEECH).and(gallery(session).locator('[aria-selected=true]:focus')).waitFor();
}

async function closeAll({ evaluate }: Ui): Promise<void> {
  await evaluate((vscode) => vscode.commands.executeCommand('workbench.action.closeAllEditors'));
}

/** What is shown, from left to right and from top to bottom. */
async function names(session: Ui): Promise<string[]> {
  return gallery(session)
    .locator('[role=gridcell] .name')
    .evaluateAll((found) => found.map((each) => each.textContent ?? ''));
}

ui.test('it opens at the asset under the cursor and is accessible', async (session) => {
  const { page } = session;
  await openGallery(session);
  const speech = tile(session, `${titleOf(SPEECH)}, Audio, 384.0 KB, from studio.make`);
  await speech.and(gallery(session).locator('[aria-selected=true]:focus')).waitFor();
  assert.equal(await gallery(session).locator('[aria-selected=true]').count(), 1);
  await gallery(session).getByText('1 selected, 384.0 KB').waitFor();
  assert.ok((await imageWidth(tile(session, CHART).locator('img'))) > 100);
  assert.deepEqual((await names(session)).toSorted(), Object.values(TITLES).toSorted());
  assert.ok((await tile(session, REPORT).getAttribute('title'))?.includes(REPORT));
  await gallery(session).getByText('1 page', { exact: true }).waitFor();
  await gallery(session).getByText('month,sales,returns').waitFor();
  await speech.getByText('0:12').waitFor();
  await gallery(session).locator('.origin.unlinked').waitFor();
  for (const theme of ['Default Dark Modern', 'Default Light Modern']) {
    await useTheme(session.evaluate, theme);
    await gallery(session)
      .locator(`body.vscode-${theme.includes('Dark') ? 'dark' : 'light'}`)
      .waitFor();
    await takeScreenshot(page, `gallery ${theme}`);
    await assertAccessible(page, '.gallery');
  }
  await useTheme(session.evaluate, 'Default Dark Modern');
});

ui.test('search, filters and sorting apply', async (session) => {
  await openGallery(session);
  const search = gallery(session).getByRole('searchbox');
  await gallery(session).locator('[role=gridcell]:focus').press('/');
  await search.fill('charts png');
  await gallery(session).getByText('2 of 8 assets').waitFor();
  assert.deepEqual((await names(session)).toSorted(), [CHART, LINE].map(titleOf));
  await gallery(session).getByRole('button', { name: 'Clear Filters' }).click();
  await gallery(session).getByLabel('Kind', { exact: true }).selectOption('audio');
  await gallery(session).getByText('1 of 8 assets').waitFor();
  await gallery(session).getByLabel('Kind', { exact: true }).selectOption('all');
  await gallery(session).getByLabel('Tool', { exact: true }).selectOption({ label: 'Not linked' });
  await gallery(session).getByText('1 of 8 assets').waitFor();
  assert.deepEqual(await names(session), [titleOf(LEFT_OVER)]);
  await search.fill('no such thing');
  await gallery(session).getByText('No matches').waitFor();
  await assertAccessible(session.page, '.gallery');
  await gallery(session).getByRole('button', { name: 'Clear Filters' }).click();
  await gallery(session).getByLabel('Sort', { exact: true }).selectOption('name');
  await gallery(session)
    .getByText(/^8 assets/)
    .waitFor();
  const sorted = [SPEECH, TABLE, ARCHIVE, LEFT_OVER, CHART, LINE, PHOTO, REPORT];
  assert.deepEqual(await names(session), sorted.map(titleOf));
});

ui.test('the keyboard moves, selects, plays and opens', async (session) => {
  const { page } = session;
  await openGallery(session);
  await gallery(session).getByLabel('Sort', { exact: true }).selectOption('name');
  await gallery(session).getByRole('searchbox').press('ArrowDown');
  const focused = gallery(session).locator('[role=gridcell]:focus');
  await focused.waitFor();
  await focused.press('Home');
  await focused.press('Space');
  await tile(session, SPEECH)
    .getByRole('button', { name: `Pause ${titleOf(SPEECH)}` })
    .waitFor();
  await focused.press('Space');
  await tile(session, SPEECH)
    .getByRole('button', { name: `Play ${titleOf(SPEECH)}` })
    .waitFor();
  await focused.press('ArrowRight');
  await focused.press('Shift+ArrowRight');
  await gallery(session).getByText('2 selected').waitFor();
  await focused.press('ControlOrMeta+a');
  await gallery(session).getByText('8 selected').waitFor();
  await focused.press('Escape');
  await focused.press('End');
  await focused.and(tile(session, REPORT)).waitFor();
  await focused.press('ArrowLeft');
  await focused.and(tile(session, PHOTO)).waitFor();
  await focused.press('Enter');
  await page.locator(`.tab.active[data-resource-name="${PHOTO}"]`).waitFor();
});

ui.test('a PDF opens on a page where it can be downloaded or saved, not as text', async (session) => {
  const { page, workspace } = session;
  await openGallery(session);
  await tile(session, REPORT).click();
  await gallery(session).getByRole('button', { name: 'Open', exact: true }).click();
  await page.locator(`.tab.active[data-resource-name="${REPORT}"]`).waitFor();
  const file = webview(page, 'filechat.filechat');
  await file.getByRole('heading', { name: 'report.pdf' }).waitFor();
  await file.getByText(/^PDF · [\d.]+ KB · from studio\.make$/).waitFor();
  await takeScreenshot(page, 'file-page');
  const download = page.waitForEvent('download');
  await file.getByRole('button', { name: 'Download' }).click();
  assert.equal((await download).suggestedFilename(), 'report.pdf');
  await file.getByRole('button', { name: 'Save As…' }).click();
  const target = workspace.path('sales', 'report.pdf');
  const box = quickInput(page).locator('.quick-input-box input');
  await waitFor('the name', 15_000, async () => (await box.inputValue()) === target || undefined);
  await box.press('Enter');
  await page.getByText('report.pdf was saved to').first().waitFor();
  assert.deepEqual(readFileSync(target), readFileSync(workspace.path('sales', 'cmdassets', REPORT)));
});

ui.test('an asset is revealed in its chat, and its reference is copied', async (session) => {
  const { page, evaluate } = session;
  await openGallery(session);
  await page.context().grantPermissions(['clipboard-read', 'clipboard-write']);
  const copied = (text: string) => page.locator('.statusbar-item', { hasText: `Copied: ${text}` }).waitFor();
  await tile(session, REPORT).click();
  await gallery(session).getByRole('button', { name: 'Copy Reference for Tools' }).click();
  await copied(`asset:${REPORT}`);
  await tile(session, CHART).click();
  await gallery(session).getByRole('button', { name: 'Copy Link' }).click();
  await copied(`![${CHART}](cmdassets/${CHART})`);
  await tile(session, REPORT).click();
  await gallery(session).getByRole('button', { name: 'Reveal in Chat' }).click();
  const line = await waitFor('the chat at the link', 5_000, () =>
    evaluate((vscode) => {
      const editor = vscode.window.activeTextEditor;
      const text = editor?.document.lineAt(editor.selection.active.line).text ?? '';
      return text.includes('report.pdf') ? text : undefined;
    }),
  );
  assert.equal(line, `[Tool generated file 1: report.pdf](cmdassets/${REPORT})`);
});

ui.test('new assets appear during a run; deleting asks first', async (session) => {
  const { page, workspace } = session;
  await openGallery(session);
  const folder = workspace.path('sales', 'cmdassets');
  const added = name('file', 5, 'txt');
  writeFileSync(join(folder, added), 'new');
  await saveChat(session);
  await tile(session, 'File 5').waitFor();
  await tile(session, ARCHIVE).click();
  await tile(session, 'File 5').click({ modifiers: ['ControlOrMeta'] });
  await gallery(session).locator('[role=gridcell]:focus').press('Delete');
  const question = dialog(page, 'Move 2 assets to the trash?');
  await question.getByText('A chat still links to 1 of them.').waitFor();
  await takeScreenshot(page, 'gallery-delete');
  await button(question, 'Cancel').click();
  assert.ok(existsSync(join(folder, ARCHIVE)));
  await gallery(session).getByRole('button', { name: 'Delete' }).click();
  await button(dialog(page, 'Move 2 assets to the trash?'), 'Move to Trash').click();
  // This editor's files are on a server, where there is no trash.
  await button(dialog(page, '2 files could not be moved to the trash.'), 'Delete Permanently').click();
  await tile(session, 'File 5').waitFor({ state: 'detached' });
  await tile(session, ARCHIVE).waitFor({ state: 'detached' });
  assert.ok(!existsSync(join(folder, ARCHIVE)) && !existsSync(join(folder, added)));
  assert.equal(readdirSync(folder).length, 7);
});

ui.test('all visible assets are exported as a ZIP', async (session) => {
  const { page, workspace } = session;
  await openGallery(session);
  await tile(session, SPEECH).press('Escape');
  await gallery(session).getByRole('button', { name: 'Export All as Zip…' }).click();
  const box = quickInput(page).locator('.quick-input-box input');
  const target = workspace.path('sales', 'sales-assets.zip');
  await waitFor(
    'the name that is offered',
    15_000,
    async () => (await box.inputValue()) === target || undefined,
  );
  await box.press('Enter');
  await page.getByText('Exported 8 assets to sales-assets.zip.').first().waitFor();
  const unpacked = unzipSync(readFileSync(target));
  assert.equal(Object.keys(unpacked).length, 8);
  assert.deepEqual(
    Buffer.from(unpacked[CHART] ?? []),
    readFileSync(workspace.path('sales', 'cmdassets', CHART)),
  );
});

ui.test('it is restored after a reload', async (session) => {
  const { page, evaluate } = session;
  await openGallery(session);
  await tile(session, SPEECH).press('Escape');
  await gallery(session).getByRole('searchbox').fill('studio');
  await gallery(session).getByText('5 of 8 assets').waitFor();
  // As a person does it, so that the editor keeps what is open.
  await untilNextHost(evaluate, () =>
    evaluate((vscode) => void vscode.commands.executeCommand('workbench.action.reloadWindow')),
  );
  await waitForWorkbench(page);
  await page.locator('.tab', { hasText: 'Assets of sales' }).click();
  await gallery(session).getByText('5 of 8 assets').waitFor();
  assert.equal(await gallery(session).getByRole('searchbox').inputValue(), 'studio');
});

ui.test('all chats are one click away, and thousands of assets need few elements', async (session) => {
  const { page, workspace } = session;
  await openGallery(session);
  const folder = workspace.path('many', 'cmdassets');
  mkdirSync(folder, { recursive: true });
  const picture = encodePng(drawChart({ title: 'Many', values: [1, 2, 3], style: 'bars' }));
  const many = Array.from({ length: 2_000 }, (_, at) => name('image', at + 1, 'png').replace('V1St', 'MANY'));
  for (const each of many) writeFileSync(join(folder, each), picture);
  const links = many.map((each) => `![Tool generated image](cmdassets/${each})`).join('\n\n');
  writeFileSync(workspace.path('many', 'many.chat.md'), `# %% tool charts.bar\n${links}\n`);
  await gallery(session).getByRole('button', { name: 'Workspace' }).click();
  await gallery(session).getByText('2,008 assets').waitFor();
  const elements = () => gallery(session).locator('*').count();
  const atTop = await elements();
  await gallery(session).locator('[role=gridcell]').first().press('End');
  await gallery(session)
    .locator('[role=gridcell]:focus')
    .and(gallery(session).locator('[tabindex="0"]'))
    .waitFor();
  await takeScreenshot(page, 'gallery-workspace');
  const most = Math.max(atTop, await elements());
  assert.ok(most < 1_500, `${most} elements`);
  await gallery(session).getByRole('button', { name: 'This chat' }).click();
  await gallery(session)
    .getByText(/^8 assets/)
    .waitFor();
});

ui.test('hostile names and files load and run nothing', async (session) => {
  const { workspace, page } = session;
  await closeAll(session);
  const folder = workspace.path('hostile', 'cmdassets');
  mkdirSync(folder, { recursive: true });
  const host = canary.host;
  const evil = `<img src=x onerror=fetch("http:&sol;&sol;${host}")>`;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg"><image href="http://${host}/a.png"/><script>fetch("http://${host}/b")</script></svg>`;
  const html = `<script src="http://${host}/c.js"></script><img src="http://${host}/d.png">`;
  const files: Readonly<Record<string, string>> = {
    'drawing.svg': svg,
    'picture.png': svg,
    'notes.md': `![x](http://${host}/e.png)\n${html}`,
    'film.mp4': html,
    [`${evil}.png`]: svg,
    'page.html': html,
    'sound.mp3': svg,
    'list.m3u8.mp3': `#EXTM3U\nhttp://${host}/f.ts\n`,
    '"><script>fetch(1)</script>.txt': html.replaceAll('/', '&sol;'),
  };
  const now = Math.floor(Date.now() / 1000);
  for (const [at, [file, text]] of Object.entries(files).entries()) {
    const path = join(folder, file.replaceAll('/', ''));
    writeFileSync(path, text);
    // The newest are shown without scrolling.
    utimesSync(path, now - at, now - at);
  }
  writeFileSync(workspace.path('hostile', 'hostile.chat.md'), `# %% user\n[a](cmdassets/drawing.svg)\n`);
  await openAt(session, 'hostile/hostile.chat.md', '[a]');
  await show(session);
  await tile(session, 'drawing.svg').and(gallery(session).locator('[aria-selected=true]')).waitFor();
  await tile(session, 'picture.png').locator('.icon-image').waitFor();
  await tile(session, 'film.mp4').locator('.icon-video').waitFor();
  await tile(session, 'notes.md').getByText(`![x](http://${host}/e.png)`).waitFor();
  assert.equal(await tile(session, 'drawing.svg').locator('img').count(), 0);
  await takeScreenshot(page, 'gallery-hostile');
  await assertAccessible(page, '.gallery');
  const frame = await frameWith(page, '.gallery');
  // What the page tries by itself is stopped as well, so a hole elsewhere would not be enough.
  const tried = await frame.evaluate<string>(
    `fetch('http://${host}/g').then(() => 'loaded', () => 'stopped')`,
  );
  assert.equal(tried, 'stopped');
  assert.deepEqual(canary.heard, []);
});

ui.test('an empty gallery says where assets come from', async (session) => {
  const { page } = session;
  await closeAll(session);
  await openAt(session, 'hello.chat.md', '# %%');
  await show(session);
  await gallery(session).getByText('No assets yet').waitFor();
  assert.equal(await gallery(session).locator('select, input').filter({ visible: true }).count(), 0);
  await takeScreenshot(page, 'gallery-empty');
  await assertAccessible(page, '.gallery');
});
