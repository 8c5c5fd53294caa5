/** A workbench with the packed extension for the UI tests of one file. */
import { mkdir } from 'node:fs/promises';
import { join } from 'node:path';
import { after, before, test } from 'node:test';
import type { Page } from 'playwright-core';
import { bridgeExtension, bridgeSocket, connectBridge, type Evaluate, waitForText } from '../bridge.ts';
import { focusEditor, openWorkbench, waitForWorkbench } from '../page.ts';
import { createTemporaryFolder } from '../process.ts';
import { say } from '../progress.ts';
import type { Settings } from '../server.ts';
import { startWorkbenchHost } from '../workbenchHost.ts';
import { checkout, createWorkspace, type Workspace } from '../workspace.ts';

const startTimeoutMs = 15 * 60_000;
const testTimeoutMs = 90_000;

export interface UiOptions {
  /** A file of the workspace to open at start, by its relative path. */
  readonly file?: string;
  /** How the workspace is trusted: it is, it is not, or the user is asked at start. */
  readonly trust?: 'trusted' | 'restricted' | 'ask';
  readonly settings?: Settings;
  /** Of the editor, such as `de`; English unless it is named. */
  readonly language?: string;
  /** For comparison: the same workbench without the extension. */
  readonly withoutFilechat?: boolean;
}

export interface Ui {
  readonly page: Page;
  /** Asks the extension host. */
  readonly evaluate: Evaluate;
  readonly workspace: Workspace;
}

export interface Session extends Ui, AsyncDisposable {}

/** Registers UI tests that share one workbench, started before the first and stopped after the last. */
export function uiSession(options: UiOptions = {}): {
  test(name: string, body: (ui: Ui) => Promise<void>): void;
} {
  let session: Session | undefined;
  before(
    async () => {
      session = await startSession(options);
    },
    { timeout: startTimeoutMs },
  );
  after(() => session?.[Symbol.asyncDispose]());
  return {
    test(name, body) {
      void test(name, { timeout: testTimeoutMs }, async () => {
        if (!session) throw new Error('The workbench did not start.');
        await withScreenshotOnFailure(session.page, name, body(session));
      });
    },
  };
}

/** A workbench without a test around it. Disposing it leaves nothing behind. */
export async function startSession(options: UiOptions = {}): Promise<Session> {
  await using started = new AsyncDisposableStack();
  const workspace = started.adopt(createWorkspace(), (copy) => copy.dispose());
  const socketFolder = started.adopt(createTemporaryFolder('bridge'), (folder) => folder.dispose());
  const socket = bridgeSocket(socketFolder.path);
  const host = started.use(
    await startWorkbenchHost({
      vsix: options.withoutFilechat
        ? undefined
        : process.env['FILECHAT_VSIX'] || join(checkout, 'dist', 'filechat.vsix'),
      settings: { ...trustSettings[options.trust ?? 'trusted'], ...options.settings },
      lean: true,
      env: { FILECHAT_BRIDGE: socket },
    }),
  );
  const { page } = host;
  const evaluate = await withScreenshotOnFailure(page, 'start', open(host, workspace, options, socket));
  const owned = started.move();
  return { page, evaluate, workspace, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

async function open(
  { page, server }: Awaited<ReturnType<typeof startWorkbenchHost>>,
  workspace: Workspace,
  { file, language }: UiOptions,
  socket: string,
): Promise<Evaluate> {
  const view = { folder: workspace.folder, file: file && workspace.path(file) };
  await openWorkbench(page, server, view, { extensions: [bridgeExtension], language });
  await waitForWorkbench(page);
  return connectBridge(socket);
}

/** Opens a new chat with this question, and puts the cursor behind it. */
export async function openChat(
  { page, evaluate }: Pick<Ui, 'page' | 'evaluate'>,
  question: string,
): Promise<void> {
  await evaluate(
    (vscode, text) => vscode.commands.executeCommand('filechat.newChat', { content: text }),
    question,
  );
  await waitForText(evaluate, question);
  await focusEditor(page);
}

const trustSettings: Record<NonNullable<UiOptions['trust']>, Settings> = {
  trusted: { 'security.workspace.trust.enabled': false },
  restricted: { 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'never' },
  ask: { 'security.workspace.trust.enabled': true, 'security.workspace.trust.startupPrompt': 'always' },
};

async function withScreenshotOnFailure<T>(page: Page, name: string, work: Promise<T>): Promise<T> {
  try {
    return await work;
  } catch (error) {
    // Whatever the picture does, the failure itself is what must be reported.
    await takeScreenshot(page, name).catch((problem: unknown) => say(`No screenshot: ${problem}`));
    throw error;
  }
}

/** Saves a picture of the page in dist/screenshots/. */
export async function takeScreenshot(page: Page, name: string): Promise<void> {
  const folder = join(checkout, 'dist', 'screenshots');
  await mkdir(folder, { recursive: true });
  const path = join(folder, `${name.replace(/\W+/g, '-')}.png`);
  await page.screenshot({ path });
  say(`Screenshot: ${path}`);
}
