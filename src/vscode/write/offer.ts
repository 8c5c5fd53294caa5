import * as vscode from 'vscode';
import { type Place, placeAt } from '../../chat/completion/place.ts';
import { isChat } from '../chat/chatFiles.ts';
import { chatOf } from '../chat/openChats.ts';
import type { ToolHelp } from './argumentHelp.ts';
import { argumentItems } from './arguments.ts';
import type { CompletionParts } from './completion.ts';
import { fileItems, type WorkspaceFiles } from './files.ts';
import type { FolderNames } from './folderNames.ts';
import { mentionItems, toolNameItems } from './mentions.ts';
import { settingKeyItems, settingValueItems } from './settings.ts';
import { commandItems, roleItems } from './words.ts';

export interface OfferParts extends CompletionParts {
  readonly help: ToolHelp;
  readonly files: WorkspaceFiles;
  readonly assets: FolderNames;
}

/** Where something is to be written: what it is for, and what it takes the place of. */
export interface Offer<P extends Place = Place> {
  readonly document: vscode.TextDocument;
  readonly place: P;
  /** From where the place starts up to the cursor. */
  readonly range: vscode.Range;
  readonly token: vscode.CancellationToken;
  readonly parts: OfferParts;
}

type Kind = Place['kind'];

/** Which sign asks for what: where it is a part of other text, it asks for nothing. */
const ASKED_BY: Readonly<Record<string, readonly Kind[]>> = {
  '#': ['file'],
  '@': ['mention'],
  '/': ['command', 'file', 'mention'],
  '%': ['role'],
  '.': ['file', 'mention', 'tool'],
  '-': ['file', 'mention', 'command'],
  '"': ['arguments', 'value'],
  ':': ['arguments', 'value'],
  ' ': ['arguments', 'value', 'role', 'tool'],
};

export const TRIGGERS = Object.keys(ASKED_BY);

export class ChatCompletion implements vscode.CompletionItemProvider {
  readonly #parts: OfferParts;

  constructor(parts: OfferParts) {
    this.#parts = parts;
  }

  async provideCompletionItems(
    document: vscode.TextDocument,
    position: vscode.Position,
    token: vscode.CancellationToken,
    { triggerCharacter }: vscode.CompletionContext,
  ): Promise<vscode.CompletionList | undefined> {
    if (!isChat(document.uri)) return undefined;
    const place = placeAt(document.getText(), chatOf(document), document.offsetAt(position));
    if (!place) return undefined;
    if (triggerCharacter !== undefined && !ASKED_BY[triggerCharacter]?.includes(place.kind)) return undefined;
    const range = new vscode.Range(document.positionAt(place.start), position);
    const list = await offer({ document, place, range, token, parts: this.#parts });
    return token.isCancellationRequested || list.items.length === 0 ? undefined : list;
  }
}

/**
 * Files depend on every letter that is typed, so they are asked for again. Until the answer is there the editor shows
 * the old list, and a quick Enter takes what was in front in that.
 */
async function offer(where: Offer): Promise<vscode.CompletionList> {
  const { place } = where;
  switch (place.kind) {
    case 'file':
      return new vscode.CompletionList(await fileItems({ ...where, place }), true);
    case 'mention':
      return new vscode.CompletionList(await mentionItems({ ...where, place }));
    case 'tool':
      return new vscode.CompletionList(await toolNameItems({ ...where, place }));
    case 'command':
      return new vscode.CompletionList(commandItems({ ...where, place }));
    case 'role':
      return new vscode.CompletionList(roleItems({ ...where, place }));
    case 'key':
      return new vscode.CompletionList(settingKeyItems({ ...where, place }));
    case 'value':
      return new vscode.CompletionList(await settingValueItems({ ...where, place }));
    case 'arguments':
      return new vscode.CompletionList(await argumentItems({ ...where, place }));
  }
}

export type PlaceOf<K extends Kind> = Extract<Place, { kind: K }>;
