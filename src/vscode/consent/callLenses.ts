import * as vscode from 'vscode';
import { chatOf } from '../chat/chatFiles.ts';
import { type CallLensKind, type CallQuestion, planCallLenses } from './question.ts';

/** The answers that can be given above a call that waits for permission. */
export function callLenses(
  document: vscode.TextDocument,
  questions: readonly CallQuestion[],
): vscode.CodeLens[] {
  if (questions.length === 0) return [];
  const { uri } = document;
  return planCallLenses(chatOf(document), questions).map(({ offset, kind, id, count }) => {
    const position = document.positionAt(offset);
    const { command, title, tooltip, more } = LENSES[kind];
    return new vscode.CodeLens(new vscode.Range(position, position), {
      // A plain space behind an icon has no width in a lens.
      title: title(count).replace(') ', ')\u00a0'),
      tooltip,
      command: `filechat.${command}`,
      arguments: [{ uri, id, line: position.line, ...more }],
    });
  });
}

interface CallLens {
  readonly command: string;
  readonly title: (count: number) => string;
  readonly tooltip: string;
  readonly more?: object;
}

const { t } = vscode.l10n;

const LENSES: Readonly<Record<CallLensKind, CallLens>> = {
  showChanges: {
    command: 'showToolChanges',
    title: () => t('$(diff) Show Changes'),
    tooltip: t('Compare the definition of this tool with the one that you allowed'),
  },
  allow: {
    command: 'allowCall',
    title: () => t('$(check) Allow Once'),
    tooltip: t('Call the tool with the arguments below'),
  },
  always: {
    command: 'allowCall',
    title: () => t('Always Allow…'),
    tooltip: t('Call the tool, and always allow it or all tools of its server'),
    more: { always: true },
  },
  edit: {
    command: 'editArguments',
    title: () => t('Edit Arguments'),
    tooltip: t('Move the cursor to the arguments. The call stays pending.'),
  },
  decline: {
    command: 'declineCall',
    title: () => t('Decline…'),
    tooltip: t('Do not call the tool, and write the reason below'),
  },
  allowAll: {
    command: 'allowCall',
    title: (count) => t('$(check-all) Allow All ({0})', count),
    tooltip: t('Allow all pending calls in this chat once'),
    more: { all: true },
  },
};
