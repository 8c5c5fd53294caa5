import * as vscode from 'vscode';
import { ASSET_FOLDER } from '../../base/names.ts';
import { findAssetReferences } from '../../mcp/fileArguments/reference.ts';
import { rangeOf } from '../chat/openChats.ts';
import { placesOf } from '../chat/places.ts';
import { CHAT_FILES } from '../run/lenses.ts';

/** Makes `asset:` references clickable. The file is not looked up before the click. */
export function registerAssetLinks({ globalStorageUri }: vscode.ExtensionContext): vscode.Disposable {
  return vscode.languages.registerDocumentLinkProvider(CHAT_FILES, {
    provideDocumentLinks: (document) =>
      findAssetReferences(document.getText()).map((reference) => {
        const target = assetUri(document.uri, reference.name, globalStorageUri);
        const link = new vscode.DocumentLink(rangeOf(document, reference), target);
        link.tooltip = vscode.l10n.t('Open the asset');
        return link;
      }),
  });
}

/** `name` is a valid asset name without slashes, so it stays in the folder. */
function assetUri(chat: vscode.Uri, name: string, globalStorage: vscode.Uri): vscode.Uri {
  const folder =
    chat.scheme === 'untitled'
      ? vscode.Uri.file(placesOf(chat, globalStorage).assetsIn)
      : vscode.Uri.joinPath(chat, '..');
  return vscode.Uri.joinPath(folder, ASSET_FOLDER, name);
}
