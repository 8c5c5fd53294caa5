/**
 * An extension host that is killed at any moment of a run, and the run after that:
 * `FILECHAT_KILLS=200 node --test test/host/ui/shared/chats/kills.test.ts`, with `FILECHAT_SEED` to repeat one.
 */
import assert from 'node:assert/strict';
import { watch } from 'node:fs';
import { mkdir, readFile, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { after, before } from 'node:test';
import type { Dialog } from 'playwright-core';
import { parseChat } from '../../../../../src/chat/format/parse.ts';
import {
  checkCalls,
  checkFolder,
  isDone,
  notingServers,
  QUESTION,
  readNotes,
  SIGNALS,
  seededRandom,
  startNotingModel,
} from '../../../../integration/helpers/killing.ts';
import { nextHost } from '../../../bridge.ts';
import { createTemporaryFolder, processEnd } from '../../../process.ts';
import { say } from '../../../progress.ts';
import { waitForWorkbench } from '../../../workbench/page.ts';
import { type Ui, uiSession } from '../../session.ts';

const KILLS = Number(process.env['FILECHAT_KILLS'] || 1);
const MAX_RUNS = 10;
/** A run changes its files so often, and seldom more often. */
const MOMENTS = 14;
const MAX_DELAY_MS = 100;

const folder = createTemporaryFolder('kills');
const cleanUps = [() => folder.dispose()];
after(() => {
  for (const cleanUp of cleanUps) cleanUp();
});
const notes = join(folder.path, 'notes');
let model = '';
before(async () => {
  model = await startNotingModel({ after: (work) => void cleanUps.push(work) });
});
const random = seededRandom(say);

const ui = uiSession({
  settings: {
    'filechat.approve': 'auto',
    'filechat.mcpServers': notingServers(notes),
    'filechat.defaultModel': 'm',
  },
});

for (let kill = 1; kill <= KILLS; kill += 1) {
  ui.test(`an extension host that is killed sends no call twice and loses none (${kill})`, async (window) => {
    const { evaluate } = window;
    const chat = window.workspace.path(`kill${kill}`, 'a.chat.md');
    await mkdir(dirname(chat));
    await writeFile(chat, QUESTION);
    await evaluate(
      async (vscode, path, baseUrl) => {
        const models = { m: { provider: 'openai-compatible', model: 'm', baseUrl } };
        await vscode.workspace.getConfiguration('filechat').update('models', models, true);
        await vscode.window.showTextDocument(vscode.Uri.file(path));
      },
      chat,
      model,
    );
    const before = readNotes(notes).length;
    await killHost(window, chat);
    await runToItsEnd(window, chat);
    checkCalls(await readFile(chat, 'utf8'), readNotes(notes).slice(before));
    checkFolder(dirname(chat));
  });
}

/** Starts a run, and kills its host some time after something has happened to the files of the chat. */
async function killHost({ page, evaluate }: Ui, chat: string): Promise<void> {
  const signal = SIGNALS[random(SIGNALS.length)] ?? 'SIGKILL';
  const at = 1 + random(MOMENTS);
  const delayMs = random(MAX_DELAY_MS);
  const host = await evaluate(() => process.pid);
  const { promise: moment, resolve } = Promise.withResolvers<void>();
  let seen = 0;
  const look = () => {
    seen += 1;
    if (seen === at) setTimeout(resolve, delayMs);
  };
  const watchers = [dirname(chat), folder.path].map((path) => watch(path, { recursive: true }, look));
  const ended = evaluate(
    (vscode, path) => vscode.commands.executeCommand('filechat.run', { uri: vscode.Uri.file(path) }),
    chat,
  ).then(
    () => 'ended',
    () => 'killed',
  );
  try {
    // A run that has ended is killed too.
    await Promise.race([moment, ended]);
    say(`${signal} at moment ${at} of ${seen}, ${delayMs} ms later`);
    process.kill(host, signal);
    await processEnd(host);
  } finally {
    for (const watcher of watchers) watcher.close();
  }
  // The page may ask whether to leave a document that is not saved.
  const leave = (dialog: Dialog) => void dialog.accept();
  page.on('dialog', leave);
  await page.reload({ waitUntil: 'commit' });
  page.off('dialog', leave);
  await waitForWorkbench(page);
  await nextHost(evaluate, host);
}

async function runToItsEnd({ evaluate }: Ui, chat: string): Promise<void> {
  for (let runs = 0; runs < MAX_RUNS; runs += 1) {
    const text = await evaluate(async (vscode, path) => {
      const uri = vscode.Uri.file(path);
      await vscode.window.showTextDocument(uri);
      await vscode.commands.executeCommand('filechat.run', { uri });
      const document = await vscode.workspace.openTextDocument(uri);
      // A window that was reloaded in the middle of a save has older text than the file, and asks the user about it.
      if (!(await document.save())) await vscode.commands.executeCommand('workbench.action.files.revert');
      return document.getText();
    }, chat);
    assert.deepEqual(parseChat(text).problems, [], text);
    if (isDone(text)) return;
  }
  throw new Error(`It is not done after ${MAX_RUNS} runs:\n${await readFile(chat, 'utf8')}`);
}
