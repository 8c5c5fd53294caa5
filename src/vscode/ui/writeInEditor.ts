import * as vscode from 'vscode';
import { plainMessage } from './plainMessage.ts';

/** Lets the user write a long text in an editor. Resolves to undefined if the editor was closed. */
export async function writeInEditor(
  name: string,
  { content, language }: { readonly content: string; readonly language: 'plaintext' | 'json' },
): Promise<string | undefined> {
  const document = await vscode.workspace.openTextDocument({ content, language });
  await vscode.window.showTextDocument(document, { preview: false });
  const useText = vscode.l10n.t('Use Text');
  const message = vscode.l10n.t(
    'Write the value of “{0}” in the editor, then choose Use Text.',
    plainMessage(name),
  );
  const answered = Promise.resolve(vscode.window.showInformationMessage(message, useText));
  using closed = closing(document);
  await Promise.race([answered, closed.promise]);
  // Also when the message is dismissed: what was written must not be lost.
  if (document.isClosed) return undefined;
  const text = document.getText();
  await vscode.window.showTextDocument(document);
  await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  return text;
}

function closing(document: vscode.TextDocument): { readonly promise: Promise<void> } & Disposable {
  let subscription: vscode.Disposable | undefined;
  const promise = new Promise<void>((resolve) => {
    subscription = vscode.workspace.onDidCloseTextDocument((each) => each === document && resolve());
  });
  return { promise, [Symbol.dispose]: () => subscription?.dispose() };
}
