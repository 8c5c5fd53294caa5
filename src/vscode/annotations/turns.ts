import * as vscode from 'vscode';
import { Throttle } from '../../base/async.ts';
import type { Role } from '../../chat/format/chat.ts';
import {
  type Fold,
  isFoldedInitially,
  type OutlineEntry,
  planFolds,
  planOutline,
  SeenFolds,
} from '../../chat/outline/outline.ts';
import { TurnShapes } from '../../chat/outline/turnShape.ts';
import { findUnsaved } from '../../result/unsaved.ts';
import { chatOf } from '../chat/chatFiles.ts';
import type { Runs } from '../run/runs.ts';
import { MarkerLines, ruleColor, ruleImage } from './turnStyle.ts';

const CHATS: vscode.DocumentSelector = { language: 'markdown', pattern: '**/*.chat.md' };

export function registerTurns(runs: Runs): vscode.Disposable {
  const shapes = new TurnShapes();
  // Symbols are shown in the outline, breadcrumbs, Go to Symbol and sticky scroll.
  const provideDocumentSymbols = (document: vscode.TextDocument) =>
    planOutline(document.getText(), chatOf(document), shapes).map((entry) => symbolOf(document, entry));
  const label = t('Chat turns');
  return vscode.Disposable.from(
    showColors(),
    registerFolds(shapes, runs),
    vscode.languages.registerDocumentSymbolProvider(CHATS, { provideDocumentSymbols }, { label }),
  );
}

const { t } = vscode.l10n;
const { SymbolKind } = vscode;

type Naming = (entry: OutlineEntry) => string;

const SYMBOLS: Readonly<Record<OutlineEntry['kind'], readonly [vscode.SymbolKind, Naming]>> = {
  user: [SymbolKind.Interface, ({ label }) => (label ? t('You: {0}', label) : t('You'))],
  assistant: [SymbolKind.Class, ({ label }) => (label ? t('Assistant: {0}', label) : t('Assistant'))],
  tool: [SymbolKind.Event, nameOfResult],
  system: [SymbolKind.Constant, ({ label }) => (label ? t('System: {0}', label) : t('System'))],
  summary: [SymbolKind.Constant, ({ label }) => (label ? t('Summary: {0}', label) : t('Summary'))],
  settings: [SymbolKind.Property, () => t('Settings')],
  call: [SymbolKind.Method, ({ call }) => call || t('Tool call')],
  heading: [SymbolKind.String, ({ label }) => label],
};

function symbolOf(document: vscode.TextDocument, entry: OutlineEntry): vscode.DocumentSymbol {
  const start = document.positionAt(entry.start);
  const [kind, nameOf] = SYMBOLS[entry.kind];
  const symbol = new vscode.DocumentSymbol(
    nameOf(entry),
    entry.kind === 'call' ? entry.label : '',
    kind,
    new vscode.Range(start, document.positionAt(entry.end)),
    new vscode.Range(start, document.positionAt(entry.nameEnd)),
  );
  symbol.children = entry.children.map((child) => symbolOf(document, child));
  return symbol;
}

function nameOfResult({ call, assets = 0, label }: OutlineEntry): string {
  const name = call || t('Tool');
  if (assets === 1) return t('{0} → 1 file', name);
  if (assets > 1) return t('{0} → {1} files', name, assets);
  return label ? `${name} → ${label}` : name;
}

const FOLD_THROTTLE_MS = 150;

/** Folds turns, calls, results, reasoning and front matter. Long ones are closed when they first appear. */
function registerFolds(shapes: TurnShapes, runs: Runs): vscode.Disposable {
  const seen = new WeakMap<vscode.TextDocument, SeenFolds>();
  /** Chats whose folds are closed when their cursor is visible again. */
  const pending = new WeakSet<vscode.TextDocument>();
  const throttle = new Throttle(FOLD_THROTTLE_MS);
  /** Waits while the cursor is out of view or the chat runs, because `editor.fold` scrolls to the cursor. */
  const closeLong = () => {
    // `editor.fold` works on the active editor only.
    const editor = vscode.window.activeTextEditor;
    if (!editor || !isChatName(editor.document) || runs.isRunning(editor.document.uri)) return;
    const { document } = editor;
    if (!isCursorVisible(editor)) return void pending.add(document);
    pending.delete(document);
    const known = seen.get(document) ?? new SeenFolds();
    seen.set(document, known);
    closeNew(editor, known, shapes);
  };
  const closeSoon = (document: vscode.TextDocument) => {
    if (vscode.window.activeTextEditor?.document === document)
      throttle.run(document.uri.toString(), closeLong);
  };
  const retry = ({ document }: vscode.TextEditor) => {
    if (pending.has(document)) closeSoon(document);
  };
  const settle = ({ document, visibleRanges }: vscode.TextEditor) => {
    // All but the last end at a closed fold.
    const closed = new Set(visibleRanges.slice(0, -1).map(({ end }) => end.line));
    if (closed.size > 0)
      seen.get(document)?.settle(performance.now(), (start) => closed.has(document.positionAt(start).line));
  };
  // VS Code calls this whenever it computes folds; only then can some be closed.
  const provideFoldingRanges = (document: vscode.TextDocument) => {
    closeSoon(document);
    return foldsOf(document, shapes).map(({ first, last }) => new vscode.FoldingRange(first, last));
  };
  return vscode.Disposable.from(
    throttle,
    vscode.window.onDidChangeActiveTextEditor((editor) => editor && closeSoon(editor.document)),
    vscode.window.onDidChangeTextEditorSelection(({ textEditor }) => retry(textEditor)),
    vscode.window.onDidChangeTextEditorVisibleRanges(({ textEditor }) => {
      settle(textEditor);
      retry(textEditor);
    }),
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) =>
      seen.get(document)?.applyChanges(contentChanges),
    ),
    runs.onDidChange(closeLong),
    vscode.languages.registerFoldingRangeProvider(CHATS, { provideFoldingRanges }),
  );
}

function closeNew({ document, selections }: vscode.TextEditor, seen: SeenFolds, shapes: TurnShapes): void {
  const long = foldsOf(document, shapes).filter(({ kind, first, last }) =>
    isFoldedInitially(kind, last - first + 1),
  );
  const hasCursor = ({ first, last }: Lines) =>
    selections.some(({ start, end }) => start.line <= last && end.line > first);
  const taken = seen.takeNew(long, performance.now(), hasCursor);
  if (taken.length === 0) return;
  // Files that could not be saved stay visible, with Retry above them.
  const unsaved = findUnsaved(document.getText()).map(({ start }) => document.positionAt(start).line);
  const selectionLines = taken
    .filter(({ first, last }) => !unsaved.some((line) => first < line && line <= last))
    .map(({ first }) => first);
  if (selectionLines.length === 0) return;
  void vscode.commands.executeCommand('editor.fold', { levels: 1, direction: 'down', selectionLines });
}

function foldsOf(document: vscode.TextDocument, shapes: TurnShapes): readonly (Fold & Lines)[] {
  return planFolds(document.getText(), chatOf(document), shapes).flatMap((fold) => {
    const first = document.positionAt(fold.start).line;
    const last = document.positionAt(fold.end).line;
    return last > first ? [{ ...fold, first, last }] : [];
  });
}

function isCursorVisible({ visibleRanges, selection }: vscode.TextEditor): boolean {
  const { line } = selection.active;
  const isIn = ({ start, end }: vscode.Range) => start.line <= line && line <= end.line;
  return visibleRanges.length === 0 || visibleRanges.some(isIn);
}

interface Lines {
  readonly first: number;
  readonly last: number;
}

const COLOR_THROTTLE_MS = 100;
const CUSTOMIZED = 'colorCustomizations';
const ROLES: readonly Role[] = ['user', 'assistant', 'tool', 'system'];

interface RoleStyle {
  readonly turn: vscode.TextEditorDecorationType;
  readonly marker: vscode.TextEditorDecorationType;
  /** `# %% role` in the marker line. */
  readonly role: vscode.TextEditorDecorationType;
}

/** Decorates turns with a rule in the gutter in the color of the role, and a line above each turn. */
function showColors(): vscode.Disposable {
  let styles = createStyles();
  let shown = new WeakMap<vscode.TextEditor, MarkerLines>();
  const throttle = new Throttle(COLOR_THROTTLE_MS);
  const show = (editors: readonly vscode.TextEditor[]) => {
    for (const editor of editors) {
      if (!isChatName(editor.document)) continue;
      const lines = shown.get(editor) ?? new MarkerLines();
      shown.set(editor, lines);
      decorate(editor, lines, styles);
    }
  };
  const disposeStyles = () => {
    for (const style of styles.values()) for (const type of Object.values(style)) type.dispose();
  };
  show(vscode.window.visibleTextEditors);
  return vscode.Disposable.from(
    throttle,
    { dispose: disposeStyles },
    vscode.window.onDidChangeVisibleTextEditors(show),
    vscode.workspace.onDidChangeTextDocument(({ document, contentChanges }) => {
      if (contentChanges.length === 0 || !isChatName(document)) return;
      const editors = () => vscode.window.visibleTextEditors.filter((each) => each.document === document);
      for (const editor of editors()) shown.get(editor)?.move(contentChanges);
      throttle.run(document.uri.toString(), () => show(editors()));
    }),
    vscode.workspace.onDidChangeConfiguration((event) => {
      if (!event.affectsConfiguration(`workbench.${CUSTOMIZED}`)) return;
      disposeStyles();
      styles = createStyles();
      shown = new WeakMap();
      show(vscode.window.visibleTextEditors);
    }),
  );
}

function decorate(editor: vscode.TextEditor, shown: MarkerLines, styles: ReadonlyMap<Role, RoleStyle>): void {
  const { document } = editor;
  const { turns } = chatOf(document);
  const lines = turns.map(({ start }) => document.positionAt(start).line);
  const names = turns.map(({ role, start, bodyStart }) => (start === bodyStart ? '' : role)).join(' ');
  if (!shown.update(lines, names)) return;
  const lastOf = (at: number) => (lines[at + 1] ?? document.lineCount) - 1;
  for (const [role, style] of styles) {
    const own = [...turns.keys()].filter((at) => turns[at]?.role === role);
    const marked = own.filter((at) => turns[at]?.bodyStart !== turns[at]?.start);
    const markers = marked.map((at) => lines[at] ?? 0);
    const bodies = own.map((at) => linesOf(document, lines[at] ?? 0, lastOf(at)));
    const wholeLines = markers.map((line) => linesOf(document, line, line));
    const roles = markers.map((line) => roleRange(document, line));
    editor.setDecorations(style.turn, bodies);
    editor.setDecorations(style.marker, wholeLines);
    editor.setDecorations(style.role, roles);
  }
}

function isChatName({ uri }: vscode.TextDocument): boolean {
  return uri.path.endsWith('.chat.md');
}

function linesOf(document: vscode.TextDocument, first: number, last: number): vscode.Range {
  return new vscode.Range(first, 0, last, document.lineAt(last).text.length);
}

function roleRange(document: vscode.TextDocument, line: number): vscode.Range {
  const length = /^# %%[ \t]+\S+/.exec(document.lineAt(line).text)?.[0].length ?? 0;
  return new vscode.Range(line, 0, line, length);
}

function createStyles(): ReadonlyMap<Role, RoleStyle> {
  return new Map(ROLES.map((role) => [role, createStyle(role)]));
}

function createStyle(role: Role): RoleStyle {
  const color = new vscode.ThemeColor(`filechat.${role}`);
  const customized = vscode.workspace.getConfiguration('workbench').get(CUSTOMIZED);
  const rule = (theme: 'dark' | 'light') => ({
    gutterIconPath: vscode.Uri.parse(ruleImage(ruleColor(role, theme, customized))),
    gutterIconSize: '100% 100%',
  });
  return {
    turn: vscode.window.createTextEditorDecorationType({
      dark: rule('dark'),
      light: rule('light'),
      overviewRulerColor: color,
      overviewRulerLane: vscode.OverviewRulerLane.Left,
    }),
    marker: vscode.window.createTextEditorDecorationType({
      isWholeLine: true,
      backgroundColor: new vscode.ThemeColor('filechat.turnBackground'),
      borderWidth: '1px 0 0 0',
      borderStyle: 'solid',
      borderColor: new vscode.ThemeColor('filechat.turnBorder'),
    }),
    role: vscode.window.createTextEditorDecorationType({
      color,
      rangeBehavior: vscode.DecorationRangeBehavior.ClosedClosed,
    }),
  };
}
