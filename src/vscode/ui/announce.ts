import * as vscode from 'vscode';

const MESSAGE_MS = 5_000;

/** Shows words in the status bar. Screen readers read them aloud, unlike those of `setStatusBarMessage`. */
export function announce(words: string): vscode.Disposable {
  const item = vscode.window.createStatusBarItem(vscode.StatusBarAlignment.Left);
  item.name = 'Filechat';
  item.text = words;
  item.accessibilityInformation = { label: words.replace(/^\$\([^)]*\) ?/, ''), role: 'alert' };
  item.show();
  return item;
}

export function announceBriefly(words: string): void {
  const item = announce(words);
  setTimeout(() => item.dispose(), MESSAGE_MS);
}
