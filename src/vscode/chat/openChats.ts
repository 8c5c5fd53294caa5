import type * as vscode from 'vscode';
import type { Chat } from '../../chat/format/chat.ts';
import { ChatReader } from '../../chat/format/parse.ts';

interface Known {
  readonly reader: ChatReader;
  readonly version: number;
  readonly chat: Chat;
}

/** Each document's chat as it was last read, so that a keystroke costs one turn, once, whoever asks. */
const known = new WeakMap<vscode.TextDocument, Known>();

/** What the text of an open chat means now. */
export function chatOf(document: vscode.TextDocument): Chat {
  const last = known.get(document);
  if (last?.version === document.version) return last.chat;
  const reader = last?.reader ?? new ChatReader();
  const chat = reader.read(document.getText());
  known.set(document, { reader, version: document.version, chat });
  return chat;
}
