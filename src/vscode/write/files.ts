import { posix } from 'node:path';
import * as vscode from 'vscode';
import { rankPaths } from '../../chat/completion.ts';
import { linkToFile } from '../chat/paths.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { type CompletionRequest, createItem, type RequestAt, sortKey } from './request.ts';

const MAX_OFFERED_FILES = 100;
const MAX_SYMBOLS = 20;
const MIN_SYMBOL_CHARS = 2;
/** Slow language services must not delay the list of files. */
const SYMBOL_TIMEOUT_MS = 400;

/**
 * Files and symbols of the workspace, inserted as links. The list is complete if more letters can only shorten it. An
 * incomplete one is requested again after each letter, and until then the editor accepts rows of the old one.
 */
export async function fileItems(request: RequestAt<'file'>): Promise<vscode.CompletionList> {
  const { document, place, range, deps } = request;
  const [files, symbols] = await Promise.all([deps.files.all(), findSymbols(place.typed)]);
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
  const items = [...fileList, ...symbols.map((symbol, at) => symbolItem(symbol, at, request))];
  const isCut = ranked.length >= MAX_OFFERED_FILES || symbols.length >= MAX_SYMBOLS;
  return new vscode.CompletionList(items, isCut || place.typed.length < MIN_SYMBOL_CHARS);
}

function symbolItem(
  symbol: vscode.SymbolInformation,
  at: number,
  { document, range }: CompletionRequest,
): vscode.CompletionItem {
  const { uri, range: lines } = symbol.location;
  const label = {
    label: plainMessage(symbol.name),
    description: plainMessage(vscode.workspace.asRelativePath(uri)),
  };
  const first = lines.start.line + 1;
  const last = lines.end.line + 1;
  const fragment = last > first ? `#L${first}-L${last}` : `#L${first}`;
  return createItem(label, kindOf(symbol.kind), {
    insertText: linkToFile(document.uri, uri, { label: symbol.name, fragment }),
    detail: vscode.l10n.t('Attach the file that contains this symbol'),
    filterText: `#${symbol.name}`,
    sortText: `2${sortKey(at)}`,
    range,
  });
}

async function findSymbols(typed: string): Promise<readonly vscode.SymbolInformation[]> {
  if (typed.length < MIN_SYMBOL_CHARS || /[/.]/.test(typed)) return [];
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<undefined>((resolve) => {
    timer = setTimeout(() => resolve(undefined), SYMBOL_TIMEOUT_MS);
  });
  try {
    const asked = vscode.commands.executeCommand<vscode.SymbolInformation[] | undefined>(
      'vscode.executeWorkspaceSymbolProvider',
      typed,
    );
    const found = (await Promise.race([asked, late])) ?? [];
    return found.filter(({ location }) => location.uri.scheme === 'file').slice(0, MAX_SYMBOLS);
  } catch {
    return [];
  } finally {
    clearTimeout(timer);
  }
}

/** Both enums have the same names with different numbers. */
function kindOf(kind: vscode.SymbolKind): vscode.CompletionItemKind {
  const name = vscode.SymbolKind[kind] as keyof typeof vscode.CompletionItemKind;
  return vscode.CompletionItemKind[name] ?? vscode.CompletionItemKind.Reference;
}
