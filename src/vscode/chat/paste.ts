import { posix } from 'node:path';
import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import { encodeTarget, renderFileLink } from '../../chat/edits/fileLink.ts';
import { readMarker } from '../../chat/format/marker.ts';
import { detectMediaType } from '../../media/sniff.ts';
import { type MediaType, mediaByExtension } from '../../media/table.ts';
import type { AssetStore, ResultAssets } from '../../ports/results.ts';

import { CHAT_FILES } from '../run/lenses.ts';
import { plainMessage } from '../ui/plainMessage.ts';
import { readUriList, relativeTarget } from './fileLink.ts';

export interface PasteParts {
  readonly storeFor: (chat: vscode.Uri) => Promise<AssetStore>;
  readonly maxBytes: () => number;
}

/** Pasted and dropped files become links in a chat; what is not near the chat is saved beside it first. */
export function registerPaste(parts: PasteParts): vscode.Disposable {
  const provider = new FileInserter(parts);
  const providedKinds = [attachmentKind()];
  return vscode.Disposable.from(
    vscode.languages.registerDocumentPasteEditProvider(CHAT_FILES, provider, {
      providedPasteEditKinds: providedKinds,
      pasteMimeTypes: ['image/*', 'files'],
    }),
    vscode.languages.registerDocumentDropEditProvider(CHAT_FILES, provider, {
      providedDropEditKinds: providedKinds,
      dropMimeTypes: ['image/*', 'files', URI_LIST],
    }),
  );
}

const URI_LIST = 'text/uri-list';
const TITLE = vscode.l10n.t('Attach to Chat');

function attachmentKind(): vscode.DocumentDropOrPasteEditKind {
  return vscode.DocumentDropOrPasteEditKind.Empty.append('filechat', 'attachment');
}

/** Something that was pasted or dropped: a file that is linked where it is, or bytes to be saved first. */
type Incoming =
  | { readonly kind: 'near'; readonly name: string; readonly target: string }
  | { readonly kind: 'bytes'; readonly name: string; readonly mimeType: string; readonly bytes: Uint8Array };

class AttachmentPaste extends vscode.DocumentPasteEdit {
  readonly document: vscode.TextDocument;
  readonly position: vscode.Position;
  readonly incoming: readonly Incoming[];

  constructor(document: vscode.TextDocument, position: vscode.Position, incoming: readonly Incoming[]) {
    super('', TITLE, attachmentKind());
    this.document = document;
    this.position = position;
    this.incoming = incoming;
  }
}

/** Exported for tests, which have no clipboard. */
export class FileInserter
  implements vscode.DocumentPasteEditProvider<AttachmentPaste>, vscode.DocumentDropEditProvider
{
  readonly #parts: PasteParts;

  constructor(parts: PasteParts) {
    this.#parts = parts;
  }

  /** The bytes are read now, because the clipboard is gone later; they are saved when this edit is the chosen one. */
  async provideDocumentPasteEdits(
    document: vscode.TextDocument,
    ranges: readonly vscode.Range[],
    transfer: vscode.DataTransfer,
    context: vscode.DocumentPasteEditContext,
    token: vscode.CancellationToken,
  ): Promise<AttachmentPaste[] | undefined> {
    if (context.only && !context.only.contains(attachmentKind())) return undefined;
    const incoming = await this.#collect(document.uri, transfer);
    if (incoming.length === 0 || token.isCancellationRequested) return undefined;
    const position = ranges[0]?.start ?? new vscode.Position(0, 0);
    const edit = new AttachmentPaste(document, position, incoming);
    // Cells of a table come as text and as a picture of it; then the text is meant, and the picture can be chosen.
    if (transfer.get('text/plain')) edit.yieldTo = [vscode.DocumentDropOrPasteEditKind.Text];
    return [edit];
  }

  async resolveDocumentPasteEdit(edit: AttachmentPaste): Promise<AttachmentPaste> {
    const { document, position } = edit;
    return Object.assign(edit, place(document, position, await this.#render(document.uri, edit.incoming)));
  }

  /** Of a drop, the editor asks for the text at once; what is dropped into a chat is meant for it. */
  async provideDocumentDropEdits(
    document: vscode.TextDocument,
    position: vscode.Position,
    transfer: vscode.DataTransfer,
    token: vscode.CancellationToken,
  ): Promise<vscode.DocumentDropEdit | undefined> {
    const incoming = await this.#collect(document.uri, transfer);
    if (incoming.length === 0 || token.isCancellationRequested) return undefined;
    const text = await this.#render(document.uri, incoming);
    if (text === '') return undefined;
    const edit = new vscode.DocumentDropEdit('', TITLE, attachmentKind());
    return Object.assign(edit, place(document, position, text));
  }

  async #collect(chat: vscode.Uri, transfer: vscode.DataTransfer): Promise<readonly Incoming[]> {
    const list = readUriList((await transfer.get(URI_LIST)?.asString()) ?? '');
    const uris = list.flatMap((each) => parseFileUri(each, chat));
    const known = new Set(uris.map(String));
    const listed = await Promise.all(uris.map((uri) => this.#fromUri(chat, uri)));
    const files = [...transfer].map(([mimeType, item]) => ({ mimeType, file: item.asFile() }));
    const dropped = await Promise.all(
      files.map(async ({ mimeType, file }) => {
        // A desktop names the same file twice: in the list and as a file.
        if (!file || (file.uri && known.has(file.uri.toString()))) return undefined;
        if (file.uri && !isForeignMedia(chat, file.uri)) return nearFile(chat, file.uri);
        return { kind: 'bytes' as const, name: file.name, mimeType, bytes: await file.data() };
      }),
    );
    return [...listed, ...dropped].filter((each) => each !== undefined);
  }

  async #fromUri(chat: vscode.Uri, uri: vscode.Uri): Promise<Incoming | undefined> {
    if (!isForeignMedia(chat, uri)) return nearFile(chat, uri);
    const name = posix.basename(uri.path);
    const size = await vscode.workspace.fs.stat(uri).then(
      (found) => found.size,
      () => undefined,
    );
    if (size === undefined) return undefined;
    // Too long to save, and still a file that can be linked.
    if (size > this.#parts.maxBytes()) return nearFile(chat, uri);
    return { kind: 'bytes', name, mimeType: '', bytes: await vscode.workspace.fs.readFile(uri) };
  }

  /** What could not be saved is told, and the rest is linked. */
  async #render(chat: vscode.Uri, incoming: readonly Incoming[]): Promise<string> {
    let assets: ResultAssets | undefined;
    const render = async (each: Incoming) => {
      if (each.kind === 'near') return renderNear(each);
      assets ??= (await this.#parts.storeFor(chat)).beginResult();
      return this.#save(each, assets);
    };
    const links: string[] = [];
    for (const each of incoming) {
      try {
        links.push(await render(each));
      } catch (error) {
        const reason = messageOf(error);
        void vscode.window.showWarningMessage(
          plainMessage(vscode.l10n.t('{0} was not attached. {1}', each.name, reason)),
        );
      }
    }
    return links.join('\n');
  }

  async #save(incoming: Incoming & { kind: 'bytes' }, assets: ResultAssets): Promise<string> {
    const { name, mimeType, bytes } = incoming;
    const maxBytes = this.#parts.maxBytes();
    if (bytes.length === 0) throw new Error(vscode.l10n.t('It is empty.'));
    if (bytes.length > maxBytes) {
      throw new Error(
        vscode.l10n.t(
          'It has {0} bytes, and filechat.results.maxAssetBytes allows {1}.',
          bytes.length,
          maxBytes,
        ),
      );
    }
    const { kind, extension } = await detectMediaType({
      bytes,
      declared: mimeType,
      uri: name,
      block: 'file',
    });
    const { path } = await assets.save({ kind, extension, bytes });
    const label = kind === 'image' && CLIPBOARD_IMAGE.test(name) ? 'Pasted image' : name;
    return renderFileLink({ label, target: encodeTarget(path), isImage: kind === 'image' });
  }
}

type Placed = Pick<vscode.DocumentDropEdit, 'insertText' | 'additionalEdit'>;

/** On the line of a marker, a link would be the end of the turn's beginning; so it goes below. */
function place(document: vscode.TextDocument, position: vscode.Position, text: string): Placed {
  const line = document.lineAt(position);
  if (!readMarker(line.text)) return { insertText: text };
  const additionalEdit = new vscode.WorkspaceEdit();
  additionalEdit.insert(document.uri, line.range.end, `\n${text}`);
  return { insertText: '', additionalEdit };
}

/** What browsers and editors call a picture that has no name. */
const CLIPBOARD_IMAGE = /^(?:image|img|unknown|blob)?(?:\.\w+)?$/i;

function renderNear({ name, target }: Incoming & { kind: 'near' }): string {
  return renderFileLink({ label: name, target, isImage: mediaOf(name)?.kind === 'image' });
}

function nearFile(chat: vscode.Uri, uri: vscode.Uri): Incoming {
  const target = isNear(chat, uri) ? relativeTarget(chat.path, uri.path) : uri.toString();
  return { kind: 'near', name: posix.basename(uri.path), target };
}

/** In the folder of the chat, or in the same folder of the workspace, so that both move together. */
function isNear(chat: vscode.Uri, uri: vscode.Uri): boolean {
  if (chat.scheme !== uri.scheme || chat.authority !== uri.authority) return false;
  const home = vscode.workspace.getWorkspaceFolder(chat);
  const together = home !== undefined && home === vscode.workspace.getWorkspaceFolder(uri);
  return together || uri.path.startsWith(`${posix.dirname(chat.path)}/`);
}

/** Images, sounds and PDFs from elsewhere are copied; text and data stay where they are and are linked there. */
function isForeignMedia(chat: vscode.Uri, uri: vscode.Uri): boolean {
  const media = mediaOf(uri.path);
  const isMedia = media !== undefined && (media.kind !== 'file' || media.extension === 'pdf');
  return isMedia && !isNear(chat, uri);
}

function mediaOf(path: string): MediaType | undefined {
  return mediaByExtension(posix.extname(path).slice(1));
}

/** Only files: an address of the web that is dropped stays what the editor makes of it. */
function parseFileUri(text: string, chat: vscode.Uri): readonly vscode.Uri[] {
  try {
    const uri = vscode.Uri.parse(text, true).with({ fragment: '' });
    const isFile = uri.scheme === 'file' || uri.scheme === chat.scheme;
    return isFile && uri.toString() !== chat.toString() ? [uri] : [];
  } catch {
    return [];
  }
}
