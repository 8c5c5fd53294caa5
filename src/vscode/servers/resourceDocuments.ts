import * as vscode from 'vscode';
import { messageOf } from '../../base/errors.ts';
import { fingerprint } from '../../mcp/config/fingerprint.ts';
import { detectMediaType } from '../../media/sniff.ts';
import { mediaByExtension } from '../../media/table.ts';
import type { Disposable } from '../../ports/document.ts';
import type { ResourceContents, ResourceName, ServerHost } from '../../ports/servers.ts';
import { nameFromUri } from '../../result/blocks.ts';
import { detectTextType } from '../../result/markdown.ts';

export const RESOURCE_SCHEME = 'filechat-resource';

const MAX_RESOURCE_BYTES = 50 * 1024 * 1024;

type ResourceSource = Pick<ServerHost, 'fetchResource' | 'states' | 'subscribe'>;

interface Entry {
  /** Kept from `stat` to `readFile`; while the resource is being opened, for every read. */
  content?: Promise<Uint8Array> | undefined;
  isOpening: boolean;
  size?: number | undefined;
  changedAtMs: number;
  hasUnreadChange: boolean;
  subscription?: Disposable | undefined;
}

/**
 * Resources as read-only files, so that a text opens in an editor and is updated while it is open. Reading a file
 * starts no server: a restored tab shows an error instead.
 */
export class ResourceDocuments implements vscode.FileSystemProvider, vscode.Disposable {
  readonly #host: ResourceSource;
  readonly #folder: vscode.Uri;
  readonly #scheme: string;
  readonly #entries = new Map<string, Entry>();
  /** Servers of resources that the user opened in this session; these may be started. */
  readonly #openedServers = new Set<string>();
  readonly #changed = new vscode.EventEmitter<vscode.FileChangeEvent[]>();
  readonly #disposables: vscode.Disposable[] = [this.#changed];
  readonly onDidChangeFile = this.#changed.event;
  readonly createDirectory = refuse;
  readonly writeFile = refuse;
  readonly delete = refuse;
  readonly rename = refuse;

  /** Binary resources are saved in `folder`, so that the editor can show them. */
  constructor(host: ResourceSource, folder: vscode.Uri, scheme = RESOURCE_SCHEME) {
    this.#host = host;
    this.#folder = folder;
    this.#scheme = scheme;
    this.#disposables.push(
      vscode.workspace.onDidOpenTextDocument((document) => this.#follow(document.uri)),
      vscode.workspace.onDidCloseTextDocument((document) => this.#unfollow(document.uri)),
    );
    for (const document of vscode.workspace.textDocuments) this.#follow(document.uri);
  }

  register(): vscode.Disposable {
    const options = { isReadonly: true, isCaseSensitive: true };
    return vscode.workspace.registerFileSystemProvider(this.#scheme, this, options);
  }

  dispose(): void {
    for (const entry of this.#entries.values()) entry.subscription?.dispose();
    this.#entries.clear();
    for (const disposable of this.#disposables) disposable.dispose();
  }

  /** Shows text in an editor and bytes as a file. Rejects with a message for the user. */
  async open(resource: ResourceName, signal?: AbortSignal): Promise<void> {
    if (!vscode.workspace.isTrusted) throw new Error(UNTRUSTED);
    this.#openedServers.add(resource.server);
    const contents = await this.#host.fetchResource(resource, { maxBytes: MAX_RESOURCE_BYTES, signal });
    if (contents.length === 0) throw new Error(vscode.l10n.t('The resource {0} is empty.', resource.uri));
    const texts = contents.flatMap(({ data }) => (typeof data === 'string' ? [data] : []));
    if (texts.length < contents.length) return this.#openSaved(resource, contents);
    const uri = this.uriFor(resource, textName(resource, texts.join('\n'), contents[0]?.mimeType));
    await this.#show(uri, toBytes(contents));
  }

  /** The path has the server and a file name, for the tab and the language mode; the query is the resource's URI. */
  uriFor({ server, uri }: ResourceName, name = nameFromUri(uri)): vscode.Uri {
    const safe = nameFromUri(`name:${encodeURIComponent((name ?? '').toWellFormed())}`) ?? 'resource';
    return vscode.Uri.from({ scheme: this.#scheme, path: `/${server}/${safe}`, query: uri });
  }

  resourceOf({ scheme, path, query }: vscode.Uri): ResourceName | undefined {
    const server = /^\/([^/]+)\/[^/]+$/.exec(path)?.[1];
    return scheme === this.#scheme && server !== undefined && query !== ''
      ? { server, uri: query }
      : undefined;
  }

  /** Called often, so the size is cached until the server reports a change. */
  async stat(uri: vscode.Uri): Promise<vscode.FileStat> {
    const entry = this.#entry(uri);
    const known = entry.hasUnreadChange || entry.content !== undefined ? undefined : entry.size;
    const size = known ?? (await this.#content(uri, entry)).byteLength;
    const permissions = vscode.FilePermission.Readonly;
    return { type: vscode.FileType.File, ctime: 0, mtime: entry.changedAtMs, size, permissions };
  }

  async readFile(uri: vscode.Uri): Promise<Uint8Array> {
    const entry = this.#entry(uri);
    entry.hasUnreadChange = false;
    const reading = this.#content(uri, entry);
    if (!entry.isOpening) entry.content = undefined;
    const content = await reading;
    entry.size = content.byteLength;
    return content;
  }

  /** Open documents are followed without it. */
  watch(): vscode.Disposable {
    return new vscode.Disposable(() => {});
  }

  readDirectory(uri: vscode.Uri): never {
    throw vscode.FileSystemError.FileNotADirectory(uri);
  }

  #content(uri: vscode.Uri, entry: Entry): Promise<Uint8Array> {
    if (!vscode.workspace.isTrusted) throw vscode.FileSystemError.NoPermissions(UNTRUSTED);
    const resource = this.resourceOf(uri);
    if (!resource) throw vscode.FileSystemError.FileNotFound(uri);
    entry.content ??= this.#fetch(resource, entry);
    return entry.content;
  }

  async #fetch(resource: ResourceName, entry: Entry): Promise<Uint8Array> {
    try {
      if (!(await this.#canFetch(resource.server))) throw new Error(notStarted(resource));
      return toBytes(await this.#host.fetchResource(resource, { maxBytes: MAX_RESOURCE_BYTES }));
    } catch (error) {
      // The next read retries.
      entry.content = undefined;
      throw vscode.FileSystemError.Unavailable(messageOf(error));
    }
  }

  async #canFetch(server: string): Promise<boolean> {
    return this.#openedServers.has(server) || (await this.#host.states()).get(server)?.kind === 'ready';
  }

  #entry(uri: vscode.Uri): Entry {
    const known = this.#entries.get(uri.toString());
    if (known) return known;
    const entry: Entry = { changedAtMs: Date.now(), hasUnreadChange: false, isOpening: false };
    this.#entries.set(uri.toString(), entry);
    return entry;
  }

  async #show(uri: vscode.Uri, bytes: Uint8Array): Promise<void> {
    const entry = this.#entry(uri);
    entry.content = Promise.resolve(bytes);
    entry.isOpening = true;
    if (entry.subscription) this.#notifyChange(uri, entry);
    try {
      // Not `openTextDocument`, which keeps the document open for minutes after its tab is closed.
      await vscode.commands.executeCommand('vscode.openWith', uri, 'default', { preview: true });
    } finally {
      entry.isOpening = false;
      // A document that was already open may not have read it yet.
      if (!entry.hasUnreadChange) entry.content = undefined;
    }
  }

  #follow(uri: vscode.Uri): void {
    const resource = this.resourceOf(uri);
    if (!resource) return;
    const entry = this.#entry(uri);
    entry.subscription ??= this.#host.subscribe(resource, () => {
      entry.content = undefined;
      // At most one notification per read, however often the server reports changes.
      if (!entry.hasUnreadChange) this.#notifyChange(uri, entry);
    });
  }

  #unfollow(uri: vscode.Uri): void {
    const entry = this.#entries.get(uri.toString());
    entry?.subscription?.dispose();
    this.#entries.delete(uri.toString());
  }

  /** The time must increase, or the editor treats the file as unchanged. */
  #notifyChange(uri: vscode.Uri, entry: Entry): void {
    entry.hasUnreadChange = true;
    entry.changedAtMs = Math.max(Date.now(), entry.changedAtMs + 1);
    this.#changed.fire([{ type: vscode.FileChangeType.Changed, uri }]);
  }

  /** The file name depends only on the resource, so that opening it again adds no file. */
  async #openSaved(resource: ResourceName, contents: readonly ResourceContents[]): Promise<void> {
    const id = fingerprint([resource.server, resource.uri]).slice(0, 16);
    const saved: vscode.Uri[] = [];
    for (const [index, { uri, mimeType, data }] of contents.entries()) {
      const bytes = typeof data === 'string' ? encode(data) : data;
      const { extension } = await detectMediaType({ bytes, declared: mimeType, uri, block: 'file' });
      const file = vscode.Uri.joinPath(this.#folder, `resource-${id}-${index + 1}.${extension}`);
      await vscode.workspace.fs.writeFile(file, bytes);
      saved.push(file);
    }
    const [first] = saved;
    if (first) await vscode.commands.executeCommand('vscode.open', first, { preview: true });
    if (saved.length < 2) return;
    const { fsPath } = this.#folder;
    void vscode.window.showInformationMessage(
      vscode.l10n.t('The resource has {0} parts. The first is open; all are in {1}.', saved.length, fsPath),
    );
  }
}

function refuse(uri: vscode.Uri): never {
  throw vscode.FileSystemError.NoPermissions(uri);
}

const UNTRUSTED = vscode.l10n.t('Resources can be read only in a trusted workspace.');

function notStarted({ server }: ResourceName): string {
  return vscode.l10n.t(
    'The server {0} is not running. Start it, or open the resource again, and then try again.',
    server,
  );
}

/** Adds an extension for the type of the text where the resource's own name has none. */
function textName({ uri }: ResourceName, text: string, mimeType: string | undefined): string {
  const name = nameFromUri(uri) ?? 'resource';
  const extension = /\.([A-Za-z0-9]{1,10})$/.exec(name)?.[1];
  const isPlain = mimeType === undefined || /^text\/plain\b/i.test(mimeType);
  if (extension !== undefined && (isPlain || mediaByExtension(extension))) return name;
  return `${name}.${detectTextType(text, { mimeType }).extension}`;
}

function toBytes(contents: readonly ResourceContents[]): Uint8Array {
  const [only] = contents;
  if (contents.length === 1 && only) return typeof only.data === 'string' ? encode(only.data) : only.data;
  return encode(contents.map(({ data }) => (typeof data === 'string' ? data : '')).join('\n'));
}

function encode(text: string): Uint8Array {
  return new TextEncoder().encode(text);
}
