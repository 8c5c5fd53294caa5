import * as vscode from 'vscode';
import { parseJson } from '../../base/json.ts';
import { profilePath } from '../../mcp/config/profile.ts';
import { readText } from '../chat/chatFiles.ts';
import { usesEditorServers, writeUserSetting } from '../settings.ts';
import { describe } from './askAboutServers.ts';
import type { ConfiguredServer } from './configuredServers.ts';

/**
 * Finds the `mcp.json` of VS Code's profile. The storage of extensions is in VS Code's folder of user data; in the
 * browser, that folder has no such file.
 */
export async function findProfileFile(globalStorage: vscode.Uri): Promise<vscode.Uri> {
  const { workspaceFile, workspaceFolders } = vscode.workspace;
  const workspace = workspaceFile ?? workspaceFolders?.[0]?.uri;
  // Without the file, there is only the default profile.
  const state = await readText(vscode.Uri.joinPath(globalStorage, '..', 'storage.json')).catch(() => '');
  const path = profilePath(parseJson(state), workspace?.toString());
  return vscode.Uri.joinPath(globalStorage, '..', '..', ...path);
}

/** Watches the file while its servers are used. */
export function watchProfileFile(globalStorage: vscode.Uri, onChange: () => void): vscode.Disposable {
  const watch = async (): Promise<vscode.Disposable | undefined> => {
    if (!usesEditorServers()) return undefined;
    const folder = vscode.Uri.joinPath(await findProfileFile(globalStorage), '..');
    const files = vscode.workspace.createFileSystemWatcher(new vscode.RelativePattern(folder, 'mcp.json'));
    const events = [files.onDidCreate, files.onDidChange, files.onDidDelete];
    return vscode.Disposable.from(files, ...events.map((event) => event(onChange)));
  };
  let watched = watch();
  const end = () => void watched.then((each) => each?.dispose());
  const settings = vscode.workspace.onDidChangeConfiguration((event) => {
    if (!event.affectsConfiguration('filechat.editorServers')) return;
    end();
    watched = watch();
    onChange();
  });
  return vscode.Disposable.from(settings, { dispose: end });
}

const USE = vscode.l10n.t('Use These Servers');

/** Shows what would be started, and turns the setting on if the user agrees. */
export async function offerProfileServers(servers: readonly ConfiguredServer[]): Promise<void> {
  const question = vscode.l10n.t('Use the MCP servers of your VS Code profile in chats?');
  const list = servers.map((server) => `${server.name}\n${describe(server)}`);
  const about = vscode.l10n.t(
    'They are not copied: changes in VS Code apply here too. The setting filechat.editorServers turns this off.',
  );
  const detail = [...list, about].join('\n\n');
  const answer = await vscode.window.showWarningMessage(question, { modal: true, detail }, USE);
  if (answer === USE) await writeUserSetting('editorServers', true);
}
