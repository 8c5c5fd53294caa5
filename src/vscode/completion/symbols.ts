import * as vscode from 'vscode';
import { atMost } from '../../base/async.ts';
import { rankPaths } from '../../chat/completion.ts';
import { type LineRange, renderLineRange } from '../../chat/format/lineRange.ts';
import { isChat } from '../chat/chatFiles.ts';
import { linkToFile } from '../chat/paths.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { createItem, type RequestAt, sortKey } from './request.ts';

const MAX_SYMBOLS = 20;
const MAX_DOCUMENTS = 20;
export const MIN_SYMBOL_CHARS = 2;
/** Slow language services must not delay the list of files. */
const SYMBOL_TIMEOUT_MS = 400;

interface FoundSymbol {
  readonly name: string;
  readonly kind: vscode.SymbolKind;
  readonly uri: vscode.Uri;
  /** Undefined if only its place is known, not its extent. */
  readonly lines?: LineRange | undefined;
}

/** Symbols of open files and of the workspace, inserted as links to their lines. */
export async function symbolItems(
  request: RequestAt<'file'>,
): Promise<{ readonly items: vscode.CompletionItem[]; readonly isCut: boolean }> {
  const { typed } = request.place;
  if (typed.length < MIN_SYMBOL_CHARS || /[/.]/.test(typed)) return { items: [], isCut: false };
  const [open, others] = await Promise.all([inTime(findOpen(typed)), inTime(findInWorkspace(typed))]);
  const known = new Set(open.map(({ uri }) => uri.toString()));
  const found = [...open, ...others.filter(({ uri }) => !known.has(uri.toString()))];
  const items = found.slice(0, MAX_SYMBOLS).map((symbol, at) => symbolItem(symbol, at, request));
  return { items, isCut: found.length >= MAX_SYMBOLS };
}

/** The symbols of open files have their whole extent. */
async function findOpen(typed: string): Promise<readonly FoundSymbol[]> {
  const documents = vscode.workspace.textDocuments.filter(
    ({ uri }) => uri.scheme === 'file' && !isChat(uri) && vscode.workspace.getWorkspaceFolder(uri),
  );
  const lists = await Promise.all(documents.slice(0, MAX_DOCUMENTS).map(({ uri }) => symbolsOf(uri)));
  const all = lists.flat();
  const best = rankPaths([...new Set(all.map(({ name }) => name))], typed, MAX_SYMBOLS);
  return best.flatMap((name) => all.filter((symbol) => symbol.name === name));
}

async function symbolsOf(uri: vscode.Uri): Promise<readonly FoundSymbol[]> {
  const found = await vscode.commands.executeCommand<
    readonly (vscode.DocumentSymbol | vscode.SymbolInformation)[] | undefined
  >('vscode.executeDocumentSymbolProvider', uri);
  const flatten = (symbol: vscode.DocumentSymbol | vscode.SymbolInformation): readonly FoundSymbol[] => {
    const range = 'range' in symbol ? symbol.range : symbol.location.range;
    const children = 'children' in symbol ? symbol.children.flatMap(flatten) : [];
    return [{ name: symbol.name, kind: symbol.kind, uri, lines: linesOf(range) }, ...children];
  };
  return (found ?? []).flatMap(flatten);
}

/** Many services give only the line of the name here, so one line says nothing about the extent. */
async function findInWorkspace(typed: string): Promise<readonly FoundSymbol[]> {
  const found = await vscode.commands.executeCommand<readonly vscode.SymbolInformation[] | undefined>(
    'vscode.executeWorkspaceSymbolProvider',
    typed,
  );
  return (found ?? []).flatMap(({ name, kind, location: { uri, range } }) => {
    const lines = range.isSingleLine ? undefined : linesOf(range);
    return uri.scheme === 'file' && !isChat(uri) ? [{ name, kind, uri, lines }] : [];
  });
}

/** A service that fails or is slow has no symbols. */
async function inTime(work: Promise<readonly FoundSymbol[]>): Promise<readonly FoundSymbol[]> {
  let found: readonly FoundSymbol[] = [];
  const kept = work.then(
    (symbols) => {
      found = symbols;
    },
    () => undefined,
  );
  await atMost(SYMBOL_TIMEOUT_MS, kept);
  return found;
}

/** A range of whole lines ends at the beginning of the next line. */
export function linesOf({ start, end }: vscode.Range): LineRange {
  const last = end.character === 0 && end.line > start.line ? end.line - 1 : end.line;
  return { first: start.line + 1, last: last + 1 };
}

function symbolItem(
  { name, kind, uri, lines }: FoundSymbol,
  at: number,
  { document, range }: RequestAt<'file'>,
): vscode.CompletionItem {
  const label = {
    label: plainMessage(name),
    description: plainMessage(vscode.workspace.asRelativePath(uri)),
  };
  return createItem(label, kindOf(kind), {
    insertText: linkToFile(document.uri, uri, { label: name, fragment: lines ? renderLineRange(lines) : '' }),
    detail: lines
      ? vscode.l10n.t('Attach the lines of this symbol')
      : vscode.l10n.t('Attach the file that contains this symbol'),
    filterText: `#${name.replaceAll(' ', '')}`,
    sortText: `2${sortKey(at)}`,
    range,
  });
}

/** Both enums have the same names with different numbers. */
function kindOf(kind: vscode.SymbolKind): vscode.CompletionItemKind {
  const name = vscode.SymbolKind[kind] as keyof typeof vscode.CompletionItemKind;
  return vscode.CompletionItemKind[name] ?? vscode.CompletionItemKind.Reference;
}
