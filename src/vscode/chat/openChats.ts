import * as vscode from 'vscode';
import type { Chat } from '../../chat/format/chat.ts';
import { ChatReader } from '../../chat/format/parse.ts';

interface Known {
  readonly reader: ChatReader;
  readonly version: number;
  readonly chat: Chat;
}

/** The parsed chat of each document, so that a keystroke parses one turn once for all features. */
const known = new WeakMap<vscode.TextDocument, Known>();

export function chatOf(document: vscode.TextDocument): Chat {
  const last = known.get(document);
  if (last?.version === document.version) return last.chat;
  const reader = last?.reader ?? new ChatReader();
  const chat = reader.read(document.getText());
  known.set(document, { reader, version: document.version, chat });
  return chat;
}

export function rangeOf(
  document: vscode.TextDocument,
  { start, end }: { readonly start: number; readonly end: number },
): vscode.Range {
  return new vscode.Range(document.positionAt(start), document.positionAt(end));
}
