import { posix } from 'node:path';
import * as vscode from 'vscode';
import { groupBy } from '../../base/collections.ts';
import { rankPaths } from '../../chat/completion.ts';
import { findAssetUses } from '../../chat/outline/references.ts';
import { assetTitle } from '../chat/assetTitle.ts';
import { chatOf } from '../chat/chatFiles.ts';
import { linkToFile } from '../chat/paths.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { createItem, type RequestAt, sortKey } from './request.ts';
import { MIN_SYMBOL_CHARS, symbolItems } from './symbols.ts';

const MAX_OFFERED_FILES = 100;

/**
 * Files and symbols of the workspace, inserted as links, and what the editor shows, inserted as text. The list is complete
 * if more letters can only shorten it. An incomplete one is requested again after each letter, and until then the editor
 * accepts rows of the old one.
 */
export async function fileItems(request: RequestAt<'file'>): Promise<vscode.CompletionList> {
  const { document, place, range, deps } = request;
  const [files, symbols] = await Promise.all([deps.files.all(), symbolItems(request)]);
  const titleOf = assetTitles(document);
  const named = files.map((file) => ({ ...file, title: titleOf(file.path) }));
  // An asset is found by its title, too.
  const byWords = new Map(named.map((file) => [`${file.path} ${file.title ?? ''}`.trimEnd(), file]));
  const ranked = rankPaths([...byWords.keys()], place.typed, MAX_OFFERED_FILES);
  const fileList = ranked.flatMap((words, at) => {
    const file = byWords.get(words);
    if (!file || file.uri.toString() === document.uri.toString()) return [];
    const folder = posix.dirname(file.path);
    const description = folder === '.' ? {} : { description: plainMessage(folder) };
    const { title = posix.basename(file.path) } = file;
    const item = createItem({ label: plainMessage(title), ...description }, vscode.CompletionItemKind.File, {
      insertText: linkToFile(document.uri, file.uri, { label: title }),
      detail: vscode.l10n.t('Attach this file'),
      // Without spaces, so that the space after the number sign of a heading closes the list.
      filterText: `#${words.replaceAll(' ', '')}`,
      sortText: `1${sortKey(at)}`,
      range,
    });
    return [item];
  });
  const items = [...fileList, ...symbols.items, ...deps.snapshots.items(request)];
  const isCut = ranked.length >= MAX_OFFERED_FILES || symbols.isCut;
  return new vscode.CompletionList(items, isCut || place.typed.length < MIN_SYMBOL_CHARS);
}

/** What users know the assets of this chat by, such as “quarterly.pdf”. */
function assetTitles(document: vscode.TextDocument): (path: string) => string | undefined {
  const uses = groupBy(findAssetUses(document.getText(), chatOf(document)), ({ path }) =>
    posix.basename(path),
  );
  return (path) => {
    const name = posix.basename(path);
    const own = uses.get(name);
    return own && assetTitle(name, own);
  };
}
