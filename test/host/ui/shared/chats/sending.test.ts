import assert from 'node:assert/strict';
import { writeFileSync } from 'node:fs';
import { waitForText } from '../../../bridge.ts';
import {
  focusEditor,
  pick,
  pointAt,
  quickInput,
  quickPickLabels,
  quickPickRow,
  waitForNote,
} from '../../../workbench/page.ts';
import { showFile, takeScreenshot, uiSession } from '../../session.ts';

const ui = uiSession({
  settings: {
    'filechat.models': { sonnet: { provider: 'anthropic', model: 'claude-sonnet-4-5' } },
    'editor.wordWrap': 'on',
  },
});

const CHAT = `---
model: sonnet
---
# %% user
Compare [last year](sales.csv) with [this year](missing.csv), and listen to [the call](call.wav).
Not [mine](/etc/hostname), and not ![that](https://example.invalid/a.png).

# %% assistant
${'Last year was the better one. '.repeat(60).trimEnd()}

# %% user
Why?
`;

ui.test('each link shows whether its file is sent', async (session) => {
  const { page, workspace } = session;
  writeFileSync(workspace.path('sales.csv'), 'quarter,value\n1,3\n2,5\n');
  writeFileSync(
    workspace.path('call.wav'),
    Buffer.concat([Buffer.from('RIFF\x24\0\0\0WAVEfmt '), Buffer.alloc(20)]),
  );
  writeFileSync(workspace.path('asked.chat.md'), CHAT);
  await showFile(session, 'asked.chat.md');
  for (const words of ['✓ 22 bytes', '✗ not sent', '✗ name only', '\\? asks before sending']) {
    await waitForNote(page, words);
  }
  await pointAt(
    page,
    page.locator('.view-line', { hasText: 'call.wav' }).getByText('the call'),
    page.locator('.monaco-hover', { hasText: 'sonnet does not accept audio/' }),
  );
  await takeScreenshot(page, 'what-is-attached');
  const size = page.viewportSize() ?? { width: 1400, height: 900 };
  await page.setViewportSize({ ...size, width: 900 });
  await page.locator('.view-line', { hasText: /^the.call|to.\[the.call/ }).waitFor();
  await page.waitForFunction(NOTHING_CUT);
  await page.setViewportSize(size);
});

/** In a narrow window the line is wrapped, and all of its text is in the window, whatever is drawn beside it. */
const NOTHING_CUT = `(() => {
  const { right } = document.querySelector('.editor-group-container.active .overflow-guard').getBoundingClientRect();
  return [...document.querySelectorAll('.editor-group-container.active .view-line > span > span')].every((span) => {
    const range = document.createRange();
    range.selectNodeContents(span);
    return range.getBoundingClientRect().right <= right;
  });
})()`;

ui.test(
  'the status bar lists the parts of the request, and a part can be excluded',
  async ({ page, evaluate }) => {
    // The request could not be made with a link that leads nowhere.
    await evaluate(async (vscode) => {
      const editor = vscode.window.activeTextEditor;
      const text = editor?.document.getText() ?? '';
      const at = text.indexOf('with [this year](missing.csv), ');
      await editor?.edit((edit) =>
        edit.delete(new vscode.Range(editor.document.positionAt(at), editor.document.positionAt(at + 30))),
      );
    });
    await focusEditor(page);
    await page.locator('[id*="filechat.cost"]').first().click();
    await quickPickRow(page, 'Show What Will Be Sent').filter({ hasText: 'tokens' }).click();
    await quickPickRow(page, 'Assistant: Last year was the better one').waitFor();
    await quickInput(page)
      .getByText(/What Will Be Sent to sonnet/)
      .waitFor();
    await takeScreenshot(page, 'what-will-be-sent');
    const turns = (await quickPickLabels(page)).filter((label) => /Assistant|You/.test(label));
    assert.match(turns[0] ?? '', /Assistant/, 'the largest turn comes first');
    const shares = await quickInput(page)
      .locator('.monaco-list-row .label-description')
      .filter({ visible: true })
      .allTextContents();
    const percents = shares.map((share) => Number(/(\d+)%/.exec(share)?.[1] ?? 0));
    assert.deepEqual(
      percents,
      [...percents].sort((a, b) => b - a),
    );
    await pick(page, 'Largest parts first', 'Assistant: Last year');
    await pick(page, 'Excluded parts stay in the file', 'Exclude');
    const text = await waitForText(evaluate, '<!-- Last year was');
    assert.ok(text.includes('better one. -->\n\n# %% user\nWhy?'));
    await quickPickRow(page, 'Show Full Request').waitFor();
    assert.equal(await quickPickRow(page, 'Assistant: Last year').count(), 0);
    await page.keyboard.press('Escape');
  },
);
