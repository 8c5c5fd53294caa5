import * as vscode from 'vscode';
import { type OutlineEntry, planOutline } from '../../chat/outline/outline.ts';
import { TurnShapes } from '../../chat/outline/turnShape.ts';
import { chatOf } from '../chat/openChats.ts';
import type { Runs } from '../run/runs.ts';
import { TurnColors } from './colors.ts';
import { TurnFolds } from './folds.ts';

const CHATS: vscode.DocumentSelector = { language: 'markdown', pattern: '**/*.chat.md' };

export function registerTurns(runs: Runs): vscode.Disposable {
  const shapes = new TurnShapes();
  const folds = new TurnFolds(shapes, runs);
  // Symbols are shown in the outline, breadcrumbs, Go to Symbol and sticky scroll.
  const provideDocumentSymbols = (document: vscode.TextDocument) =>
    planOutline(document.getText(), chatOf(document), shapes).map((entry) => symbolOf(document, entry));
  const label = vscode.l10n.t('Chat turns');
  return vscode.Disposable.from(
    new TurnColors(),
    folds,
    vscode.languages.registerFoldingRangeProvider(CHATS, folds),
    vscode.languages.registerDocumentSymbolProvider(CHATS, { provideDocumentSymbols }, { label }),
  );
}

const KINDS: Readonly<Record<OutlineEntry['kind'], vscode.SymbolKind>> = {
  user: vscode.SymbolKind.Interface,
  assistant: vscode.SymbolKind.Class,
  tool: vscode.SymbolKind.Event,
  system: vscode.SymbolKind.Constant,
  summary: vscode.SymbolKind.Constant,
  settings: vscode.SymbolKind.Property,
  call: vscode.SymbolKind.Method,
  heading: vscode.SymbolKind.String,
};

function symbolOf(document: vscode.TextDocument, entry: OutlineEntry): vscode.DocumentSymbol {
  const start = document.positionAt(entry.start);
  const symbol = new vscode.DocumentSymbol(
    nameOf(entry),
    entry.kind === 'call' ? entry.words : '',
    KINDS[entry.kind],
    new vscode.Range(start, document.positionAt(entry.end)),
    new vscode.Range(start, document.positionAt(entry.nameEnd)),
  );
  symbol.children = entry.children.map((child) => symbolOf(document, child));
  return symbol;
}

function nameOf(entry: OutlineEntry): string {
  switch (entry.kind) {
    case 'user':
      return entry.words ? vscode.l10n.t('You: {0}', entry.words) : vscode.l10n.t('You');
    case 'assistant':
      return entry.words ? vscode.l10n.t('Assistant: {0}', entry.words) : vscode.l10n.t('Assistant');
    case 'system':
      return entry.words ? vscode.l10n.t('System: {0}', entry.words) : vscode.l10n.t('System');
    case 'summary':
      return entry.words ? vscode.l10n.t('Summary: {0}', entry.words) : vscode.l10n.t('Summary');
    case 'tool':
      return nameOfResult(entry);
    case 'settings':
      return vscode.l10n.t('Settings');
    case 'call':
      return entry.call || vscode.l10n.t('Tool call');
    case 'heading':
      return entry.words;
  }
}

function nameOfResult({ call, assets = 0, words }: OutlineEntry): string {
  const name = call || vscode.l10n.t('Tool');
  if (assets === 1) return vscode.l10n.t('{0} → 1 file', name);
  if (assets > 1) return vscode.l10n.t('{0} → {1} files', name, assets);
  return words ? `${name} → ${words}` : name;
}
