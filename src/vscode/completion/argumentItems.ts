import * as vscode from 'vscode';
import { ASSET_FOLDER } from '../../base/assetNames.ts';
import { defined } from '../../base/json.ts';
import { assetReferenceAt } from '../../chat/completion.ts';
import type { ArgumentHelp, ArgumentItem } from '../../mcp/callArguments/help.ts';
import { argumentsSnippet } from '../../mcp/callArguments/schema.ts';
import { inferForm } from '../../mcp/fileArguments/form.ts';
import { parseReference } from '../../mcp/fileArguments/reference.ts';
import { rangeOf, readFolder } from '../chat/chatFiles.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { createItem, type RequestAt, sortKey } from './request.ts';

type ArgumentsRequest = RequestAt<'arguments'>;

/** Names and values from the tool's schema, and assets where a file is expected. */
export async function argumentItems(request: ArgumentsRequest): Promise<vscode.CompletionItem[]> {
  const { place, deps } = request;
  const text = place.call.argumentsText;
  const help = await deps.help(place.call);
  if (text.trim() === '') return help ? [wholeItem(help, request)] : [];
  const [items, assets] = await Promise.all([
    help?.complete(text, place.offset) ?? [],
    assetItems(help, request),
  ]);
  return [...items.map((item) => toItem(item, request)), ...assets];
}

function toItem(found: ArgumentItem, { document, place }: ArgumentsRequest): vscode.CompletionItem {
  const { Property, Value } = vscode.CompletionItemKind;
  const { label, kind, snippet, filterText, sortText, documentation } = found;
  return createItem(plainMessage(label), kind === 'property' ? Property : Value, {
    insertText: new vscode.SnippetString(snippet),
    range: rangeOf(document, { start: place.start + found.start, end: place.start + found.end }),
    ...defined({ filterText, sortText }),
    ...(documentation === undefined
      ? {}
      : { documentation: new vscode.MarkdownString().appendText(documentation) }),
  });
}

/** Inserts all required arguments into an empty call. */
function wholeItem(help: ArgumentHelp, { document, place }: ArgumentsRequest): vscode.CompletionItem {
  const at = document.positionAt(place.start + place.offset);
  return createItem('{…}', vscode.CompletionItemKind.Struct, {
    detail: vscode.l10n.t('All required arguments'),
    insertText: new vscode.SnippetString(argumentsSnippet(help.schema)),
    range: new vscode.Range(at, at),
  });
}

async function assetItems(
  help: ArgumentHelp | undefined,
  request: ArgumentsRequest,
): Promise<vscode.CompletionItem[]> {
  const { document, place } = request;
  const text = place.call.argumentsText;
  const written = assetReferenceAt(text, place.offset);
  if (!written || (!written.typed.startsWith('asset:') && !expectsFile(help, text, place.offset))) return [];
  const entries = await readFolder(vscode.Uri.joinPath(document.uri, '..', ASSET_FOLDER));
  const range = rangeOf(document, { start: place.start + written.start, end: place.start + written.end });
  return entries
    .flatMap(([name, type]) => (type === vscode.FileType.File ? [name] : []))
    .filter((name) => parseReference(`asset:${name}`).kind === 'reference')
    .sort()
    .reverse()
    .map((name, at) =>
      createItem(`asset:${name}`, vscode.CompletionItemKind.File, {
        detail: vscode.l10n.t('Passed in the format that the tool expects'),
        insertText: `asset:${name}`,
        filterText: `asset:${name}`,
        // Names contain the time, so the newest come first.
        sortText: `~${sortKey(at)}`,
        range,
      }),
    );
}

function expectsFile(help: ArgumentHelp | undefined, text: string, offset: number): boolean {
  const found = help?.at(text, offset);
  if (!found) return false;
  const name = String(found.steps.findLast((step) => typeof step === 'string') ?? '');
  return inferForm({ name, schema: found.keywords, walk: found.walk }, 'asset')?.explicit === true;
}
