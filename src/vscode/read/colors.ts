import * as vscode from 'vscode';
import { Throttle } from '../../base/async.ts';
import type { Role } from '../../chat/format/marker.ts';
import { chatOf } from '../chat/openChats.ts';
import { MarkerLines, ruleColor, ruleImage } from './turnStyle.ts';

const THROTTLE_MS = 100;
const CUSTOMIZED = 'colorCustomizations';
const ROLES: readonly Role[] = ['user', 'assistant', 'tool', 'system'];

interface RoleStyle {
  /** The rule beside all lines of a turn. */
  readonly turn: vscode.TextEditorDecorationType;
  /** The marker line. */
  readonly marker: vscode.TextEditorDecorationType;
  /** `# %% role` in the marker line. */
  readonly role: vscode.TextEditorDecorationType;
}

/** Decorates turns with a rule in the gutter in the color of the role, and a line above each turn. */
export class TurnColors implements vscode.Disposable {
  #styles = createStyles();
  #shown = new WeakMap<vscode.TextEditor, MarkerLines>();
  readonly #throttle = new Throttle(THROTTLE_MS);
  readonly #subscriptions: vscode.Disposable;

  constructor() {
    this.#subscriptions = vscode.Disposable.from(
      vscode.window.onDidChangeVisibleTextEditors((editors) => this.#showAll(editors)),
      vscode.workspace.onDidChangeTextDocument((event) => this.#changed(event)),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration(`workbench.${CUSTOMIZED}`)) this.#recreateStyles();
      }),
    );
    this.#showAll(vscode.window.visibleTextEditors);
  }

  dispose(): void {
    this.#subscriptions.dispose();
    this.#throttle.dispose();
    this.#disposeStyles();
  }

  #disposeStyles(): void {
    for (const style of this.#styles.values()) for (const type of Object.values(style)) type.dispose();
  }

  #recreateStyles(): void {
    this.#disposeStyles();
    this.#styles = createStyles();
    this.#shown = new WeakMap();
    this.#showAll(vscode.window.visibleTextEditors);
  }

  #showAll(editors: readonly vscode.TextEditor[]): void {
    for (const editor of editors) if (isChatName(editor.document)) this.#show(editor);
  }

  #changed({ document, contentChanges }: vscode.TextDocumentChangeEvent): void {
    if (contentChanges.length === 0 || !isChatName(document)) return;
    const showing = () => vscode.window.visibleTextEditors.filter((editor) => editor.document === document);
    for (const editor of showing()) this.#shown.get(editor)?.move(contentChanges);
    this.#throttle.run(document.uri.toString(), () => this.#showAll(showing()));
  }

  #show(editor: vscode.TextEditor): void {
    const { document } = editor;
    const shown = this.#shown.get(editor) ?? new MarkerLines();
    this.#shown.set(editor, shown);
    const { turns } = chatOf(document);
    const lines = turns.map(({ start }) => document.positionAt(start).line);
    const names = turns.map(({ role, start, bodyStart }) => (start === bodyStart ? '' : role)).join(' ');
    if (!shown.update(lines, names)) return;
    for (const [role, style] of this.#styles) {
      const own = [...turns.keys()].filter((at) => turns[at]?.role === role);
      const marked = own.filter((at) => turns[at]?.bodyStart !== turns[at]?.start);
      const markers = marked.map((at) => lines[at] ?? 0);
      const ranges = {
        turn: own.map((at) => linesOf(document, lines[at] ?? 0, (lines[at + 1] ?? document.lineCount) - 1)),
        marker: markers.map((line) => linesOf(document, line, line)),
        role: markers.map((line) => roleRange(document, line)),
      };
      editor.setDecorations(style.turn, ranges.turn);
      editor.setDecorations(style.marker, ranges.marker);
      editor.setDecorations(style.role, ranges.role);
    }
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
