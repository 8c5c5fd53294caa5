import { posix } from 'node:path';
import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import { encodeTarget, renderFileLink } from '../../chat/edits/fileLink.ts';
import { readMarker } from '../../chat/format/chat.ts';
import { detectMediaType } from '../../media/sniff.ts';
import { type MediaType, mediaByExtension } from '../../media/table.ts';
import type { AssetKind, ResultAssets } from '../../ports/results.ts';
import { resultLimits } from '../settings.ts';
import { showProblem } from '../ui/outcomes.ts';
import { CHAT_FILES } from './chatFiles.ts';
import { readUriList, relativeTarget } from './paths.ts';
import type { StoreFor } from './stores.ts';

/** Turns pasted and dropped files into links. Media from elsewhere is saved beside the chat first. */
export function registerPaste(storeFor: StoreFor): vscode.Disposable {
  const provider = new FileInserter(storeFor, () => resultLimits().maxAssetBytes);
  const kinds = [attachmentKind()];
  return vscode.Disposable.from(
    vscode.languages.registerDocumentPasteEditProvider(CHAT_FILES, provider, {
      providedPasteEditKinds: kinds,
      pasteMimeTypes: ['image/*', 'files'],
    }),
    vscode.languages.registerDocumentDropEditProvider(CHAT_FILES, provider, {
      providedDropEditKinds: kinds,
      dropMimeTypes: ['image/*', 'files', URI_LIST],
    }),
  );
}

const URI_LIST = 'text/uri-list';
const TITLE = vscode.l10n.t('Attach to Chat');

function attachmentKind(): vscode.DocumentDropOrPasteEditKind {
  return vscode.DocumentDropOrPasteEditKind.Empty.append('filechat', 'attachment');
}

interface IncomingBytes {
  readonly name: string;
  readonly mimeType: string;
  readonly bytes: Uint8Array;
}

/** A link, or bytes that must be saved first. */
type Incoming = string | IncomingBytes;

type Insertion = Pick<vscode.DocumentDropEdit, 'insertText' | 'additionalEdit'>;

class AttachmentPaste extends vscode.DocumentPasteEdit {
  readonly save: () => Promise<Insertion>;

  constructor(save: () => Promise<Insertion>) {
    super('', TITLE, attachmentKind());
    this.save = save;
  }
}

/** Exported for tests, which have no clipboard. */
export class FileInserter
  implements vscode.DocumentPasteEditProvider<AttachmentPaste>, vscode.DocumentDropEditProvider
{
  readonly #storeFor: StoreFor;
  readonly #maxBytes: () => number;

  constructor(storeFor: StoreFor, maxBytes: () => number) {
    this.#storeFor = storeFor;
    this.#maxBytes = maxBytes;
  }

  /** Reads the bytes now, while the clipboard is available; they are saved if this edit is chosen. */
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
    const save = async () => place(document, position, await this.#render(document.uri, incoming));
    const edit = new AttachmentPaste(save);
    // Table cells arrive as text and as an image: prefer the text, and let the user choose the image.
    if (transfer.get('text/plain')) edit.yieldTo = [vscode.DocumentDropOrPasteEditKind.Text];
    return [edit];
  }

  async resolveDocumentPasteEdit(edit: AttachmentPaste): Promise<AttachmentPaste> {
    return Object.assign(edit, await edit.save());
  }

  /** Drop edits have no resolve step, so files are saved at once. */
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
    const files = [...transfer].map(async ([mimeType, item]) => {
      const file = item.asFile();
      // On a desktop the same file is in the list and in the transfer.
      if (!file || (file.uri && known.has(file.uri.toString()))) return undefined;
      if (file.uri && !isForeignMedia(chat, file.uri)) return linkInPlace(chat, file.uri);
      return { name: file.name, mimeType, bytes: await file.data() };
    });
    const found = await Promise.all([...uris.map((uri) => this.#fromUri(chat, uri)), ...files]);
    return found.filter((each) => each !== undefined);
  }

  async #fromUri(chat: vscode.Uri, uri: vscode.Uri): Promise<Incoming | undefined> {
    if (!isForeignMedia(chat, uri)) return linkInPlace(chat, uri);
    const stat = await vscode.workspace.fs.stat(uri).then(undefined, () => undefined);
    if (!stat) return undefined;
    if (stat.size > this.#maxBytes()) return linkInPlace(chat, uri);
    return {
      name: posix.basename(uri.path),
      mimeType: '',
      bytes: await vscode.workspace.fs.readFile(uri),
    };
  }

  async #render(chat: vscode.Uri, incoming: readonly Incoming[]): Promise<string> {
    let assets: ResultAssets | undefined;
    const links: string[] = [];
    const files = incoming.filter((each) => typeof each !== 'string');
    const kinds = await Promise.all(files.map(async (each) => (await detectType(each)).kind));
    const lastOf = (wanted: AssetKind) => kinds.filter((kind) => kind === wanted).length;
    for (const each of incoming) {
      if (typeof each === 'string') {
        links.push(each);
        continue;
      }
      try {
        assets ??= (await this.#storeFor(chat)).beginResult({ keepsCopies: false });
        links.push(await this.#save(each, assets, lastOf));
      } catch (error) {
        const message = vscode.l10n.t('{0} was not attached. {1}', each.name, messageOf(error));
        showProblem(message);
      }
    }
    return links.join('\n');
  }

  async #save(
    file: IncomingBytes,
    assets: ResultAssets,
    lastOf: (kind: AssetKind) => number,
  ): Promise<string> {
    const { name, bytes } = file;
    const maxBytes = this.#maxBytes();
    if (bytes.length === 0) throw new Error(vscode.l10n.t('The file is empty.'));
    if (bytes.length > maxBytes) {
      throw new Error(
        vscode.l10n.t(
          'The file has {0} bytes, and filechat.results.maxAssetBytes allows {1}.',
          bytes.length,
          maxBytes,
        ),
      );
    }
    const { kind, extension } = await detectType(file);
    const { path } = await assets.save({ kind, extension, bytes, last: lastOf(kind) });
    const isImage = kind === 'image';
    const label = isImage && CLIPBOARD_IMAGE.test(name) ? 'Pasted image' : name;
    return renderFileLink({ label, target: encodeTarget(path), isImage });
  }
}

function detectType({ name, mimeType, bytes }: IncomingBytes): Promise<MediaType> {
  return detectMediaType({ bytes, declared: mimeType, uri: name, block: 'file' });
}

/** A link in a marker line would break the marker, so it goes to the line below. */
function place(document: vscode.TextDocument, position: vscode.Position, text: string): Insertion {
  const line = document.lineAt(position);
  if (!readMarker(line.text)) return { insertText: text };
  const additionalEdit = new vscode.WorkspaceEdit();
  additionalEdit.insert(document.uri, line.range.end, `\n${text}`);
  return { insertText: '', additionalEdit };
}

/** The names that browsers and editors give to unnamed images. */
const CLIPBOARD_IMAGE = /^(?:image|img|unknown|blob)?(?:\.\w+)?$/i;

function linkInPlace(chat: vscode.Uri, uri: vscode.Uri): string {
  const label = posix.basename(uri.path);
  const target = isNear(chat, uri) ? relativeTarget(chat.path, uri.path) : uri.toString();
  return renderFileLink({ label, target, isImage: mediaOf(label)?.kind === 'image' });
}

/** In the chat's folder or workspace folder, so that a relative link stays valid when both move. */
function isNear(chat: vscode.Uri, uri: vscode.Uri): boolean {
  if (chat.scheme !== uri.scheme || chat.authority !== uri.authority) return false;
  const home = vscode.workspace.getWorkspaceFolder(chat);
  const together = home !== undefined && home === vscode.workspace.getWorkspaceFolder(uri);
  return together || uri.path.startsWith(`${posix.dirname(chat.path)}/`);
}

/** Media and PDFs from elsewhere are copied; other files are linked in place. */
function isForeignMedia(chat: vscode.Uri, uri: vscode.Uri): boolean {
  const media = mediaOf(uri.path);
  const isMedia = media !== undefined && (media.kind !== 'file' || media.extension === 'pdf');
  return isMedia && !isNear(chat, uri);
}

function mediaOf(path: string): MediaType | undefined {
  return mediaByExtension(posix.extname(path).slice(1));
}

/** Ignores web addresses, which VS Code inserts itself. */
function parseFileUri(text: string, chat: vscode.Uri): readonly vscode.Uri[] {
  try {
    const uri = vscode.Uri.parse(text, true).with({ fragment: '' });
    const isFile = uri.scheme === 'file' || uri.scheme === chat.scheme;
    return isFile && uri.toString() !== chat.toString() ? [uri] : [];
  } catch {
    return [];
  }
}
