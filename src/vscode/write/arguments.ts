import * as vscode from 'vscode';
import { assetReferenceAt } from '../../chat/completion/paths.ts';
import type { ArgumentHelp, ArgumentItem } from '../../mcp/callArguments/help.ts';
import { argumentsSnippet } from '../../mcp/callArguments/schema.ts';
import { inferForm } from '../../mcp/fileArguments/form.ts';
import { parseReference } from '../../mcp/fileArguments/reference.ts';
import { rangeOf } from '../chat/chatFiles.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import type { RequestAt } from './request.ts';

type ArgumentsRequest = RequestAt<'arguments'>;

/** Names and values from the tool's schema, and assets where a file is expected. */
export async function argumentItems(request: ArgumentsRequest): Promise<vscode.CompletionItem[]> {
  const { place, deps } = request;
  const text = place.call.argumentsText;
  const help = await deps.help.of(place.call);
  if (text.trim() === '') return help ? [wholeItem(help, request)] : [];
  const [items, assets] = await Promise.all([
    help?.complete(text, place.offset) ?? [],
    assetItems(help, request),
  ]);
  return [...items.map((item) => toItem(item, request)), ...assets];
}

function toItem(found: ArgumentItem, { document, place }: ArgumentsRequest): vscode.CompletionItem {
  const { Property, Value } = vscode.CompletionItemKind;
  const item = new vscode.CompletionItem(
    plainMessage(found.label),
    found.kind === 'property' ? Property : Value,
  );
  item.insertText = new vscode.SnippetString(found.snippet);
  item.range = rangeOf(document, { start: place.start + found.start, end: place.start + found.end });
  if (found.filterText !== undefined) item.filterText = found.filterText;
  if (found.sortText !== undefined) item.sortText = found.sortText;
  if (found.documentation !== undefined)
    item.documentation = new vscode.MarkdownString().appendText(found.documentation);
  return item;
}

/** Inserts all required arguments into an empty call. */
function wholeItem(help: ArgumentHelp, { document, place }: ArgumentsRequest): vscode.CompletionItem {
  const item = new vscode.CompletionItem('{…}', vscode.CompletionItemKind.Struct);
  item.detail = vscode.l10n.t('All arguments that the tool needs');
  item.insertText = new vscode.SnippetString(argumentsSnippet(help.schema));
  const at = document.positionAt(place.start + place.offset);
  item.range = new vscode.Range(at, at);
  return item;
}

async function assetItems(
  help: ArgumentHelp | undefined,
  request: ArgumentsRequest,
): Promise<vscode.CompletionItem[]> {
  const { document, place, deps } = request;
  const text = place.call.argumentsText;
  const written = assetReferenceAt(text, place.offset);
  if (!written || (!written.typed.startsWith('asset:') && !wantsFile(help, text, place.offset))) return [];
  const names = await deps.assets.beside(document.uri);
  const range = rangeOf(document, { start: place.start + written.start, end: place.start + written.end });
  return names
    .filter((name) => parseReference(`asset:${name}`).kind === 'reference')
    .sort()
    .reverse()
    .map((name, at) => {
      const item = new vscode.CompletionItem(`asset:${name}`, vscode.CompletionItemKind.File);
      item.detail = vscode.l10n.t('Becomes what the tool asks for');
      item.insertText = `asset:${name}`;
      item.filterText = `asset:${name}`;
      // Names contain the time, so the newest come first.
      item.sortText = `~${String(at).padStart(5, '0')}`;
      item.range = range;
      return item;
    });
}

function wantsFile(help: ArgumentHelp | undefined, text: string, offset: number): boolean {
  const found = help?.at(text, offset);
  if (!help || !found) return false;
  const name = String(found.steps.findLast((step) => typeof step === 'string') ?? '');
  return inferForm({ name, schema: found.keywords, root: help.schema }, 'asset')?.explicit === true;
}
