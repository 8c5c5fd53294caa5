/**
 * Replies arrive whole while tabs are switched, split, closed and reopened, the file is renamed and the user types.
 * `FILECHAT_REPLIES=50` is the long demonstration: 50 replies in a row, with a step every 300 ms.
 */
import assert from 'node:assert/strict';
import { readFileSync, writeFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { until } from '../../../../kit/until.ts';
import type { Evaluate } from '../../../bridge.ts';
import { activeTab, button, dialog } from '../../../workbench/page.ts';
import { heldModel } from '../../heldModel.ts';
import { type Ui, uiSession } from '../../session.ts';

const demonstration = process.env['FILECHAT_REPLIES'];
const replies = Number(demonstration ?? 2);
const stepMs = demonstration ? 300 : 0;

// The default of VS Code in a browser. A tab with unsaved changes then closes without a question.
const ui = uiSession({ settings: { 'files.autoSave': 'afterDelay' } });
const model = heldModel();

const OTHER = 'other.md';
const MARK = '§';

for (let number = 1; number <= replies; number += 1) {
  ui.test(`reply ${number} of ${replies} is complete, whatever happens to its tab`, async (session) => {
    await replyWhileTabsChange(session, number);
  });
}

async function replyWhileTabsChange(session: Ui, number: number): Promise<void> {
  const { page, evaluate, workspace } = session;
  const chat = new ChatTab(session, `chat-${number}.chat.md`);
  if (number === 1) {
    await model.use(evaluate);
    writeFileSync(workspace.path(OTHER), 'Another file.\n');
    await show(evaluate, workspace.path(OTHER));
  }
  writeFileSync(workspace.path(chat.name), `# %% user\nQuestion ${number}.\n`);
  await chat.open();
  const running = chat.run();
  if (number === 1) await button(dialog(page, 'the MCP server “sample”'), 'Allow').click();
  const reply = await model.next();
  const said: string[] = [];
  const steps: readonly (() => Promise<unknown>)[] = [
    () => chat.leave(),
    () => chat.enter(),
    () => chat.type(),
    () => chat.leave(),
    () => chat.enter(),
    () => chat.split(),
    () => chat.closeTab(),
    () => chat.leave(),
    () => chat.rename(`renamed-${number}.chat.md`),
    () => chat.enter(),
    () => chat.type(),
    () => chat.closeTab(),
    () => chat.open(),
    () => chat.leave(),
    () => chat.enter(),
    () => (number % 2 === 0 ? chat.leave() : chat.closeTab()),
  ];
  for (const [at, step] of steps.entries()) {
    const piece = `Step ${at} begins, goes on and ends.${at % 4 === 3 ? '\n\n' : ' '}`;
    said.push(piece);
    for (const word of piece.split(/(?<= )/)) reply.say(word);
    await Promise.all([step(), pause(stepMs)]);
  }
  reply.say('The end.');
  reply.finish();
  const outcome = await running;
  const text = readFileSync(workspace.path(chat.name), 'utf8');
  const question = `Question ${number}.${MARK.repeat(chat.typed)}`;
  const whole = `${said.join('')}The end.`;
  assert.deepEqual(
    { outcome, text },
    {
      outcome: { ok: true, assets: [] },
      text: `# %% user\n${question}\n\n# %% assistant\n${whole}\n\n# %% user\n`,
    },
  );
  await evaluate((vscode) => vscode.commands.executeCommand('workbench.action.closeEditorsInGroup'));
  await show(evaluate, workspace.path(OTHER));
}

/** What a user does with the tab of a chat. */
class ChatTab {
  readonly #ui: Ui;
  name: string;
  /** How many marks the user has typed. */
  typed = 0;

  constructor(session: Ui, name: string) {
    this.#ui = session;
    this.name = name;
  }

  get #path(): string {
    return this.#ui.workspace.path(this.name);
  }

  open(): Promise<void> {
    return show(this.#ui.evaluate, this.#path);
  }

  run(): Promise<unknown> {
    return this.#ui.evaluate(
      (vscode, path) => vscode.commands.executeCommand('filechat.run', { uri: vscode.Uri.file(path) }),
      this.#path,
    );
  }

  leave(): Promise<void> {
    return this.#click(OTHER);
  }

  enter(): Promise<void> {
    return this.#click(this.name);
  }

  async split(): Promise<void> {
    await this.#ui.evaluate((vscode) => vscode.commands.executeCommand('workbench.action.splitEditor'));
  }

  async closeTab(): Promise<void> {
    await this.#ui.evaluate((vscode) => vscode.commands.executeCommand('workbench.action.closeActiveEditor'));
  }

  /** Behind the question, letter by letter. */
  async type(): Promise<void> {
    const { page } = this.#ui;
    // The tab is active before the editor below it shows the chat.
    await this.#caretAt(() => true);
    await page.locator('.editor-group-container.active .monaco-editor.focused').first().waitFor();
    await page.keyboard.press('ControlOrMeta+Home');
    await page.keyboard.press('ArrowDown');
    await page.keyboard.press('End');
    await this.#caretAt((line) => line === 1);
    for (let letter = 0; letter < 5; letter += 1) await page.keyboard.type(MARK);
    this.typed += 5;
  }

  /** Waits until the editor in front shows the chat, with the caret in such a line. */
  async #caretAt(isRight: (line: number) => boolean): Promise<void> {
    await until(async () => {
      const line = await this.#ui.evaluate((vscode, path) => {
        const { document, selection } = vscode.window.activeTextEditor ?? {};
        return document?.uri.path === path ? selection?.active.line : undefined;
      }, this.#path);
      return line !== undefined && isRight(line);
    });
  }

  async rename(name: string): Promise<void> {
    await this.#ui.evaluate(
      async (vscode, from, to) => {
        const edit = new vscode.WorkspaceEdit();
        edit.renameFile(vscode.Uri.file(from), vscode.Uri.file(to));
        if (!(await vscode.workspace.applyEdit(edit))) throw new Error('The file was not renamed.');
      },
      this.#path,
      this.#ui.workspace.path(name),
    );
    this.name = name;
  }

  async #click(name: string): Promise<void> {
    const { page } = this.#ui;
    await page.locator(`.tab[data-resource-name="${name}"]`).first().click();
    await activeTab(page, name).first().waitFor();
  }
}

async function show(evaluate: Evaluate, path: string): Promise<void> {
  await evaluate(async (vscode, file) => {
    await vscode.window.showTextDocument(vscode.Uri.file(file), { preview: false });
  }, path);
}
