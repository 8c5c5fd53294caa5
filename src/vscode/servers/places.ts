import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import { field, isObject } from '../../base/json.ts';
import type { NewServer } from '../../mcp/config/serverEntry.ts';
import {
  addToServersFile,
  findProperty,
  findServer,
  removeFromServersFile,
} from '../../mcp/config/serversFile.ts';
import { exists, openDocument, rangeOf, readText } from '../chat/chatFiles.ts';
import { userServers, writeUserServer, writeUserSetting } from '../settings.ts';
import { PROFILE_PLACE, USER_PLACE } from './configuredServers.ts';

/** A server with the definitions of its inputs, which only a file of a workspace can hold. */
interface AddedServer extends NewServer {
  readonly inputs: readonly object[];
}

/** Writes a server to its place: `USER_PLACE`, or the URI of a workspace folder. */
export async function writeServer(place: string, server: AddedServer): Promise<void> {
  if (place === USER_PLACE) return writeUserServer(server.name, server.entry);
  await changeFile(place, (text) => {
    try {
      return addToServersFile(text, server);
    } catch (error) {
      const reason = messageOf(error);
      throw new Error(
        vscode.l10n.t('.vscode/mcp.json is not valid JSON: {0}. Fix it first, then add the server.', reason),
      );
    }
  });
}

/** Removes a server from its place. Resolves to a function that restores it, or to undefined if it is gone. */
export async function removeServer(place: string, name: string): Promise<(() => Promise<void>) | undefined> {
  if (place !== USER_PLACE) {
    let removed: string | undefined;
    const before = await changeFile(place, (text) => {
      removed = removeFromServersFile(text, name);
      return removed ?? text;
    });
    return removed === undefined
      ? undefined
      : async () => void (await changeFile(place, (text) => (text === removed ? before : text)));
  }
  const before = userServers();
  if (!isObject(before) || field(before, name) === undefined) return undefined;
  const { [name]: entry, ...others } = before;
  await writeUserSetting('mcpServers', others);
  return async () => {
    // In its old order, unless the others have changed.
    const now = userServers();
    const isSame = JSON.stringify(now) === JSON.stringify(others);
    await writeUserSetting('mcpServers', isSame || !isObject(now) ? before : { ...now, [name]: entry });
  };
}

/** Opens the configuration of a server, with the cursor at its name. */
export async function openServer(place: string, name: string): Promise<void> {
  const editor =
    place === USER_PLACE
      ? await openUserSettings()
      : await vscode.window.showTextDocument(fileIn(place), { preview: false });
  if (!editor) return;
  const { document } = editor;
  const text = document.getText();
  const found =
    place === USER_PLACE ? findProperty(text, ['filechat.mcpServers', name]) : findServer(text, name);
  if (!found) return;
  const { start, end } = rangeOf(document, found);
  editor.selection = new vscode.Selection(start, start);
  editor.revealRange(new vscode.Range(start, end), vscode.TextEditorRevealType.InCenterIfOutsideViewport);
}

async function openUserSettings(): Promise<vscode.TextEditor | undefined> {
  await vscode.commands.executeCommand('workbench.action.openSettingsJson');
  return vscode.window.activeTextEditor;
}

function fileIn(folder: string): vscode.Uri {
  if (folder.startsWith(PROFILE_PLACE)) return vscode.Uri.parse(folder.slice(PROFILE_PLACE.length), true);
  return vscode.Uri.joinPath(vscode.Uri.parse(folder, true), '.vscode', 'mcp.json');
}

/** Changes an open file through its document, so that its editors keep their changes. Resolves to the old text. */
async function changeFile(folder: string, change: (text: string) => string): Promise<string> {
  const uri = fileIn(folder);
  const document = openDocument(uri);
  if (document) return changeDocument(document, change);
  const before = (await exists(uri)) ? await readText(uri) : '';
  const text = change(before);
  if (text !== before) await vscode.workspace.fs.writeFile(uri, new TextEncoder().encode(text));
  return before;
}

async function changeDocument(
  document: vscode.TextDocument,
  change: (text: string) => string,
): Promise<string> {
  const before = document.getText();
  const edit = new vscode.WorkspaceEdit();
  edit.replace(document.uri, rangeOf(document, { start: 0, end: before.length }), change(before));
  if (!(await vscode.workspace.applyEdit(edit)) || !(await document.save())) {
    throw new Error(vscode.l10n.t('Could not save {0}.', document.uri.fsPath));
  }
  return before;
}
