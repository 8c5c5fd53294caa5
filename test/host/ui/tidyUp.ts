/** Makes a window that a file of tests has used as good as new, in a tenth of the time that a new one takes. */
import { readFileSync } from 'node:fs';
import { until } from '../../kit/until.ts';
import { button, dialog } from '../workbench/page.ts';
import type { Settings } from '../workbench/server.ts';
import type { Session } from './session.ts';

/** Closes everything, forgets every permission, and restores the settings and the workspace. */
export async function tidyUp(session: Session, settings: Settings): Promise<void> {
  const { page, evaluate, workspace, settingsFile } = session;
  // A dialog keeps every command waiting, and a menu or a list takes the next key.
  for (let presses = 0; presses < 3; presses += 1) await page.keyboard.press('Escape');
  await closeEditors(session);
  await evaluate((vscode) => vscode.commands.executeCommand('filechat.forgetPermissions'));
  await changeSettings(session, JSON.parse(readFileSync(settingsFile, 'utf8')), settings);
  await deleteFiles(session);
  workspace.copySamples();
  await evaluate(async (vscode) => {
    for (const command of [
      'workbench.action.editorLayoutSingle',
      'workbench.action.closePanel',
      'workbench.action.closeAuxiliaryBar',
      'workbench.view.explorer',
      'notifications.clearAll',
    ]) {
      await vscode.commands.executeCommand(command);
    }
  });
}

/** Discards unsaved changes. A run that is about to end may write into a document that was just reverted; the editor asks about that. */
export async function closeEditors({ page, evaluate }: Pick<Session, 'page' | 'evaluate'>): Promise<void> {
  let isDone = false;
  const closing = evaluate(async (vscode) => {
    const openTabs = () => vscode.window.tabGroups.all.flatMap(({ tabs }) => tabs);
    // At once: closed one by one, each would show the next one first.
    await vscode.window.tabGroups.close(openTabs().filter(({ isDirty }) => !isDirty));
    for (let tabs = 0; openTabs().length > 0; tabs += 1) {
      if (tabs === 100) throw new Error('There are tabs that do not close.');
      await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
    }
  }).finally(() => {
    isDone = true;
  });
  const discard = button(dialog(page, 'Do you want to save'), "Don't Save");
  await until(async () => {
    if (await discard.isVisible()) await discard.click();
    return isDone;
  });
  await closing;
}

/** The editor does it, so that it forgets the documents too. */
async function deleteFiles({ evaluate, workspace }: Session): Promise<void> {
  await evaluate(
    async (vscode, paths) => {
      const edit = new vscode.WorkspaceEdit();
      const options = { recursive: true, ignoreIfNotExists: true, skipTrashBin: true };
      for (const path of paths) edit.deleteFile(vscode.Uri.file(path), options);
      if (!(await vscode.workspace.applyEdit(edit))) throw new Error('The files were not deleted.');
    },
    workspace.changedNames().map((name) => workspace.path(name)),
  );
}

async function changeSettings({ evaluate }: Session, from: Settings, to: Settings): Promise<void> {
  const names = [...new Set([...Object.keys(from), ...Object.keys(to)])];
  const changed = names.filter((name) => JSON.stringify(from[name]) !== JSON.stringify(to[name]));
  await evaluate(
    async (vscode, changes) => {
      for (const [name, value] of changes)
        await vscode.workspace.getConfiguration().update(name, value, vscode.ConfigurationTarget.Global);
    },
    changed.map((name) => [name, to[name]] as const),
  );
}
