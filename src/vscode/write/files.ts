import { posix } from 'node:path';
import * as vscode from 'vscode';
import { rankPaths } from '../../chat/completion.ts';
import { linkToFile } from '../chat/paths.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { createItem, type RequestAt, sortKey } from './request.ts';
import { MIN_SYMBOL_CHARS, symbolItems } from './symbols.ts';

const MAX_OFFERED_FILES = 100;

/**
 * Files and symbols of the workspace, inserted as links, and what the editor shows, inserted as text. The list is complete if more letters can only shorten it. An
 * incomplete one is requested again after each letter, and until then the editor accepts rows of the old one.
 */
export async function fileItems(request: RequestAt<'file'>): Promise<vscode.CompletionList> {
  const { document, place, range, deps } = request;
  const [files, symbols] = await Promise.all([deps.files.all(), symbolItems(request)]);
  const byPath = new Map(files.map((file) => [file.path, file]));
  const ranked = rankPaths([...byPath.keys()], place.typed, MAX_OFFERED_FILES);
  const fileList = ranked.flatMap((path, at) => {
    const file = byPath.get(path);
    if (!file || file.uri.toString() === document.uri.toString()) return [];
    const folder = posix.dirname(path);
    const description = folder === '.' ? {} : { description: plainMessage(folder) };
    const label = { label: plainMessage(posix.basename(path)), ...description };
    const item = createItem(label, vscode.CompletionItemKind.File, {
      insertText: linkToFile(document.uri, file.uri),
      detail: vscode.l10n.t('Attach this file'),
      filterText: `#${path}`,
      sortText: `1${sortKey(at)}`,
      range,
    });
    return [item];
  });
  const items = [...fileList, ...symbols.items, ...deps.snapshots.items(request)];
  const isCut = ranked.length >= MAX_OFFERED_FILES || symbols.isCut;
  return new vscode.CompletionList(items, isCut || place.typed.length < MIN_SYMBOL_CHARS);
}
