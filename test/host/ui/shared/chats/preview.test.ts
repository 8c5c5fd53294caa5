import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import type { FrameLocator, Page } from 'playwright-core';
import { until } from '../../../../kit/until.ts';
import { imageWidth, webview } from '../../../workbench/page.ts';
import { startCanary } from '../../hostileRepository.ts';
import { hostileSvg, hostileText, RICH, writeAssets } from '../../previewChats.ts';
import { takeScreenshot, type Ui, uiSession, useTheme } from '../../session.ts';

/** And what the workbench is marked with. */
const THEMES = {
  'Default Dark Modern': 'vs-dark',
  'Default Light Modern': 'vs',
  'Default High Contrast': 'hc-black',
};

/** Has all that a chat has, and is none. */
const PLAIN = '# %% user\n\n[a](cmdassets/a.pdf) [b](b.mp3)\n\n```tool_call a.b c1\n{}\n```\n\n> ⚠ no\n';

const canary = startCanary();
const ui = uiSession();

/** Opens a file of the workspace in the preview alone. */
async function preview({ page, evaluate, workspace }: Ui, name: string, text: string): Promise<FrameLocator> {
  writeFileSync(workspace.path(name), text);
  await evaluate(async (vscode, path) => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    await vscode.commands.executeCommand('workbench.action.closeSidebar');
    await vscode.commands.executeCommand('workbench.action.closeAuxiliaryBar');
    await vscode.commands.executeCommand('markdown.showPreview', vscode.Uri.file(path));
  }, workspace.path(name));
  return shown(page);
}

function shown(page: Page): FrameLocator {
  return webview(page, 'vscode.markdown-language-features');
}

const COLORS = `['--filechat-accent', '--vscode-filechat-assistant'].map((name) =>
  getComputedStyle(document.querySelector('.filechat-assistant')).getPropertyValue(name))`;

ui.test('turns are cards with role and time, calls on one line, players and chips', async (session) => {
  const { workspace } = session;
  writeAssets(workspace);
  const frame = await preview(session, 'rich.chat.md', RICH);
  await frame.locator('.filechat-turn').nth(4).waitFor();
  const names = await frame
    .locator('.filechat-turn')
    .evaluateAll((cards) => cards.map((card) => card.ariaLabel));
  assert.deepEqual(names, ['You', 'Assistant', 'Tool: charts.bar', 'Tool: files.read', 'Assistant']);
  assert.equal(await frame.getByText('%%').count(), 0);
  const colors: unknown = await frame.locator('body').evaluate(COLORS);
  assert.ok(Array.isArray(colors));
  assert.equal(colors[0], colors[1], 'turns have the colors of the editor');
  assert.equal(await imageWidth(frame.getByAltText('Image 1', { exact: true })), 640);
  await frame.getByText('Nov 16, 2026').waitFor();
  await frame.getByRole('link', { name: /^quarterly\.pdf [\d.]+ KB$/ }).waitFor();
  await frame.getByRole('link', { name: /^Audio 1 WAV · [\d.]+ KB$/ }).waitFor();
  const seconds = await frame.locator('audio').evaluate(
    (sound: {
      duration: number;
      readyState: number;
      addEventListener(name: string, then: () => void): void;
    }) =>
      new Promise<number>((resolve) => {
        if (sound.readyState > 0) resolve(sound.duration);
        sound.addEventListener('loadedmetadata', () => resolve(sound.duration));
      }),
  );
  assert.ok(seconds > 1, String(seconds));
  const call = frame.getByText('charts.bar({title: "Sales by quarter", values: [3, 5, 4, 8]');
  assert.equal(await frame.getByText('"labels": [').isVisible(), false);
  await call.waitFor();
  await frame.locator('.filechat-call > summary').first().press('Enter');
  await frame.getByText('"labels": [').waitFor();
});

ui.test('an image opens in full size and closes with the keyboard', async ({ page }) => {
  const frame = shown(page);
  const picture = frame.locator('.filechat-image');
  await picture.press('Enter');
  const dialog = frame.getByRole('dialog', { name: 'Image 1' });
  await dialog.waitFor();
  await frame.getByRole('button', { name: 'Close' }).and(frame.locator(':focus')).waitFor();
  await takeScreenshot(page, 'preview-picture');
  await page.keyboard.press('Escape');
  await dialog.waitFor({ state: 'detached' });
  await picture.and(frame.locator(':focus')).waitFor();
});

ui.test('in a narrow preview, the name of a tool stays visible', async ({ page }) => {
  const size = page.viewportSize() ?? { width: 1400, height: 900 };
  const card = shown(page).locator('.filechat-tool').first();
  for (const width of [900, 420]) {
    await page.setViewportSize({ ...size, width });
    const [head, name, time] = await Promise.all(
      ['.filechat-head', '.filechat-detail', '.filechat-time'].map((part) =>
        card.locator(part).boundingBox(),
      ),
    );
    assert.ok(head && name && time);
    assert.ok(name.width > 60, `${width}: ${name.width}`);
    assert.ok(time.x + time.width <= head.x + head.width + 1, `${width}: the time is inside of the card`);
    await takeScreenshot(page, `preview-narrow-${width}`);
  }
  await page.setViewportSize(size);
});

ui.test('formulas, tasks and images that are not loaded are shown as models mean them', async (session) => {
  const text =
    '# %% assistant\nEuler: \\(e^{i\\pi} = -1\\).\n\n\\[\n\\frac{a}{b}\n\\]\n\n- [x] Plan\n- [ ] Do\n\n\\![remote](https://example.test/a.png)\n';
  const frame = await preview(session, 'models.chat.md', text);
  await frame.locator('p .katex').first().waitFor();
  await frame.locator('.katex-block .katex-display').waitFor();
  assert.deepEqual(
    await frame.getByRole('checkbox').evaluateAll((boxes) => boxes.map((box) => box.matches(':checked'))),
    [true, false],
  );
  await frame.getByRole('link', { name: 'remote (not loaded' }).waitFor();
  assert.equal(await frame.getByText('!remote').count(), 0);
  await takeScreenshot(session.page, 'preview-models');
});

ui.test('a PDF opens on its own page, not as text', async (session) => {
  const { page } = session;
  const frame = await preview(session, 'rich.chat.md', RICH);
  await frame.getByRole('link', { name: /^quarterly\.pdf/ }).click();
  await page.locator('.tab.active[data-resource-name$="-1.pdf"]').waitFor();
  const file = webview(page, 'filechat.filechat');
  await file.getByRole('heading', { name: 'quarterly.pdf' }).waitFor();
  await preview(session, 'rich.chat.md', RICH);
});

ui.test('code is copied with one click, and the button confirms it', async ({ page }) => {
  const frame = shown(page);
  const copy = frame.locator('.filechat-code:has(.language-python) > .filechat-copy');
  await copy.press('Enter');
  await frame.getByRole('status').getByText('Copied').waitFor();
  assert.equal(await frame.locator('.code-block-copy-button').filter({ visible: true }).count(), 0);
});

ui.test('it is accessible in every theme', async (session) => {
  const { page, evaluate } = session;
  for (const [theme, kind] of Object.entries(THEMES)) {
    await useTheme(evaluate, theme);
    await page.locator(`.monaco-workbench.${kind}`).waitFor();
    // The workbench reloads an open preview for another theme, and does not say when.
    const frame = await preview(session, 'rich.chat.md', RICH);
    await frame.locator('.filechat-turn').nth(4).waitFor();
    for (const turn of [0, 2, 4]) {
      const card = frame.locator('.filechat-turn').nth(turn);
      await card.evaluate((element: { scrollIntoView(): void }) => element.scrollIntoView());
      await takeScreenshot(page, `preview-${kind}-${turn}`);
    }
    assert.deepEqual(await findViolations(page), []);
  }
});

async function findViolations(page: Page): Promise<readonly string[]> {
  const body = await shown(page).locator('body').elementHandle();
  const frame = await body?.ownerFrame();
  assert.ok(frame);
  // The workbench paints what is behind the page, which nobody can see from within it.
  await frame.evaluate('document.documentElement.style.background = "var(--vscode-editor-background)"');
  // In the page itself the preview's own rules would forbid to evaluate it.
  await frame.evaluate(readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8'));
  // The colours of code are the preview's own.
  return frame.evaluate<
    string[]
  >(`axe.run({ include: ['.filechat-turn', '.filechat-front'], exclude: ['pre > code'] })
    .then(({ violations }) => violations.map(({ id, nodes }) => id + ': ' + nodes.map(({ html }) => html).join('\\n')))`);
}

ui.test('open details stay open while the chat grows', async (session) => {
  const { evaluate, workspace } = session;
  const frame = await preview(session, 'rich.chat.md', RICH);
  await frame.locator('.filechat-call > summary').first().press('Enter');
  await frame.locator('.filechat-call[open]').waitFor();
  await evaluate(async (vscode, path) => {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(path));
    const edit = new vscode.WorkspaceEdit();
    const end = document.lineAt(document.lineCount - 1).range.end;
    edit.insert(document.uri, end, 'Thank you.\n\n# %% assistant\nYou are welcome.\n');
    await vscode.workspace.applyEdit(edit);
    await document.save();
  }, workspace.path('rich.chat.md'));
  await frame.getByText('You are welcome.').waitFor();
  assert.equal(await frame.locator('.filechat-turn').count(), 7);
  await frame.locator('.filechat-call[open]').waitFor();
  // The preview scrolls with the editor by these.
  const line = readFileSync(workspace.path('rich.chat.md'), 'utf8').split('\n').indexOf('You are welcome.');
  await frame.locator(`p.code-line[data-line="${line}"]`, { hasText: 'You are welcome.' }).waitFor();
});

ui.test('a change in a long chat updates only that place', async (session) => {
  const { evaluate, workspace } = session;
  const turns = Array.from(
    { length: 500 },
    (_, turn) =>
      `# %% user\nQuestion ${turn}\n\n# %% assistant\nAnswer ${turn}\n\n\`\`\`js\nlet a = ${turn};\n\`\`\`\n`,
  );
  const frame = await preview(session, 'long.chat.md', turns.join('\n'));
  await frame.locator('.filechat-turn').nth(999).waitFor();
  const first = frame.getByText('Answer 0', { exact: true });
  await first.evaluate((element: { isKept?: boolean }) => {
    element.isKept = true;
  });
  await evaluate(async (vscode, path) => {
    const document = await vscode.workspace.openTextDocument(vscode.Uri.file(path));
    const edit = new vscode.WorkspaceEdit();
    edit.insert(
      document.uri,
      document.lineAt(document.lineCount - 1).range.end,
      '\n# %% user\nThe last one\n',
    );
    await vscode.workspace.applyEdit(edit);
    await document.save();
  }, workspace.path('long.chat.md'));
  await frame.getByText('The last one').waitFor();
  assert.equal(await first.evaluate((element: { isKept?: boolean }) => element.isKept), true);
});

ui.test('nothing remote is loaded', async (session) => {
  const { page, workspace } = session;
  writeFileSync(workspace.path('evil.svg'), hostileSvg(canary.host));
  const text = hostileText(canary.host);
  const turns = ['user', 'assistant', 'tool a.b c1', 'system'].map((role) => `# %% ${role}\n${text}\n`);
  const frame = await preview(
    session,
    'hostile.chat.md',
    `${text}\n${turns.join('\n')}\n# %% user\nThe end\n`,
  );
  await frame.getByText('The end').waitFor();
  await frame
    .locator('body')
    .evaluate(
      async (body: {
        querySelectorAll(name: string): Iterable<{ loading: string; decode(): Promise<void> }>;
      }) => {
        for (const image of body.querySelectorAll('img')) {
          image.loading = 'eager';
          await image.decode().catch(() => {});
        }
      },
    );
  assert.equal(
    await frame.locator('.mermaid, svg[id^=mermaid], iframe, video, script[src*="127.0.0.1"]').count(),
    0,
  );
  await takeScreenshot(page, 'preview-hostile');
  assert.deepEqual(canary.heard, []);
});

ui.test('other Markdown files are unchanged and still load remote images', async (session) => {
  const frame = await preview(session, 'plain.md', `${PLAIN}\n![a](https://${canary.host}/a.png)\n`);
  await frame.getByRole('heading', { name: '%% user' }).waitFor();
  await frame.locator('.code-block-copy-button').first().waitFor({ state: 'attached' });
  assert.equal(await frame.locator('[class*=filechat], [id*=filechat]').count(), 0);
  await frame
    .locator('img')
    .first()
    .evaluate((image: { decode(): Promise<void> }) => image.decode().catch(() => {}));
  assert.notDeepEqual(canary.heard, []);
});

ui.test('a chat with the cursor at its end fills the preview with its last turns', async (session) => {
  const { page, evaluate, workspace } = session;
  writeFileSync(workspace.path('long.chat.md'), `${'# %% user\nOne line.\n\n'.repeat(60)}# %% user\n`);
  await evaluate(async (vscode, path) => {
    await vscode.commands.executeCommand('workbench.action.closeAllEditors');
    const document = await vscode.workspace.openTextDocument(path);
    const end = document.positionAt(document.getText().length);
    await vscode.window.showTextDocument(document, { selection: new vscode.Range(end, end) });
    await vscode.commands.executeCommand('markdown.showPreview');
  }, workspace.path('long.chat.md'));
  const frame = shown(page);
  await frame.locator('.filechat-turn').nth(59).waitFor();
  const isFilled = `scrollY > 1000 &&
    [...document.querySelectorAll('.filechat-turn')].at(-1).getBoundingClientRect().bottom > innerHeight - 200`;
  await until(async () => (await frame.locator('body').evaluate(isFilled)) === true);
});
