import * as vscode from 'vscode';
import { assetReferenceAt } from '../../chat/completion/paths.ts';
import type { ArgumentHelp, ArgumentItem } from '../../mcp/callArguments/help.ts';
import { argumentsSnippet } from '../../mcp/callArguments/schema.ts';
import { inferForm } from '../../mcp/fileArguments/form.ts';
import { parseReference } from '../../mcp/fileArguments/reference.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import type { Offer, PlaceOf } from './offer.ts';

type Where = Offer<PlaceOf<'arguments'>>;

/** Names and values by the tool's schema, and the chat's own files where one can be given. */
export async function argumentItems(where: Where): Promise<vscode.CompletionItem[]> {
  const { place, deps } = where;
  const text = place.call.argumentsText;
  const help = await deps.help.of(place.call);
  if (text.trim() === '') return help ? [wholeItem(help, where)] : [];
  const [items, assets] = await Promise.all([
    help?.complete(text, place.offset) ?? [],
    assetItems(help, where),
  ]);
  return [...items.map((item) => toItem(item, where)), ...assets];
}

function toItem(found: ArgumentItem, { document, place }: Where): vscode.CompletionItem {
  const { Property, Value } = vscode.CompletionItemKind;
  const item = new vscode.CompletionItem(
    plainMessage(found.label),
    found.kind === 'property' ? Property : Value,
  );
  item.insertText = new vscode.SnippetString(found.snippet);
  item.range = new vscode.Range(
    document.positionAt(place.start + found.start),
    document.positionAt(place.start + found.end),
  );
  if (found.filterText !== undefined) item.filterText = found.filterText;
  if (found.sortText !== undefined) item.sortText = found.sortText;
  if (found.documentation !== undefined)
    item.documentation = new vscode.MarkdownString().appendText(found.documentation);
  return item;
}

/** A call without a word yet gets all that it needs at once. */
function wholeItem(help: ArgumentHelp, { document, place }: Where): vscode.CompletionItem {
  const item = new vscode.CompletionItem('{…}', vscode.CompletionItemKind.Struct);
  item.detail = vscode.l10n.t('All arguments that the tool needs');
  item.insertText = new vscode.SnippetString(argumentsSnippet(help.schema));
  const at = document.positionAt(place.start + place.offset);
  item.range = new vscode.Range(at, at);
  return item;
}

async function assetItems(help: ArgumentHelp | undefined, where: Where): Promise<vscode.CompletionItem[]> {
  const { document, place, deps } = where;
  const text = place.call.argumentsText;
  const written = assetReferenceAt(text, place.offset);
  if (!written || (!written.typed.startsWith('asset:') && !wantsFile(help, text, place.offset))) return [];
  const names = await deps.assets.beside(document.uri);
  const range = new vscode.Range(
    document.positionAt(place.start + written.start),
    document.positionAt(place.start + written.end),
  );
  return names
    .filter((name) => parseReference(`asset:${name}`).kind === 'reference')
    .sort()
    .reverse()
    .map((name, at) => {
      const item = new vscode.CompletionItem(`asset:${name}`, vscode.CompletionItemKind.File);
      item.detail = vscode.l10n.t('Becomes what the tool asks for');
      item.insertText = `asset:${name}`;
      item.filterText = `asset:${name}`;
      // The newest first, as their names say.
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
