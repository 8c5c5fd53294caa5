import * as vscode from 'vscode';
import type { CompletionPlace } from '../../chat/completion.ts';
import type { ServerHost } from '../../ports/servers.ts';
import type { EditorModels } from '../model/editorModels.ts';
import type { KnownServers } from '../servers/known.ts';
import type { ServerRows } from '../servers/rows.ts';
import type { ToolHelp } from './argumentHelp.ts';

export interface ItemDeps {
  readonly servers: ServerHost;
  /** The tools, prompts and resources of running servers. */
  readonly known: KnownServers;
  /** All configured servers. */
  readonly rows: ServerRows;
  readonly models: EditorModels;
  readonly help: ToolHelp;
  readonly files: WorkspaceFiles;
  readonly snapshots: SnapshotSource;
}

/** What the editor shows at this moment, as text for the chat. */
interface SnapshotSource {
  items(request: RequestAt<'file'>): vscode.CompletionItem[];
}

export interface CompletionRequest<P extends CompletionPlace = CompletionPlace> {
  readonly document: vscode.TextDocument;
  readonly place: P;
  /** From the start of the place to the cursor. */
  readonly range: vscode.Range;
  readonly deps: ItemDeps;
}

export type RequestAt<K extends CompletionPlace['kind']> = CompletionRequest<
  Extract<CompletionPlace, { kind: K }>
>;

export function createItem(
  label: string | vscode.CompletionItemLabel,
  kind: vscode.CompletionItemKind,
  fields: Partial<vscode.CompletionItem>,
): vscode.CompletionItem {
  return Object.assign(new vscode.CompletionItem(label, kind), fields);
}

export function sortKey(at: number): string {
  return String(at).padStart(5, '0');
}

const MAX_FILES = 20_000;

interface WorkspaceFile {
  readonly uri: vscode.Uri;
  /** Relative to the workspace folder. */
  readonly path: string;
}

/** The files of the workspace, cached until a file is created or deleted. */
export class WorkspaceFiles implements vscode.Disposable {
  readonly #subscriptions: vscode.Disposable;
  #files: Promise<readonly WorkspaceFile[]> | undefined;

  constructor() {
    const forget = () => {
      this.#files = undefined;
    };
    const watcher = vscode.workspace.createFileSystemWatcher('**/*', false, true, false);
    this.#subscriptions = vscode.Disposable.from(
      watcher,
      watcher.onDidCreate(forget),
      watcher.onDidDelete(forget),
      vscode.workspace.onDidChangeWorkspaceFolders(forget),
      vscode.workspace.onDidChangeConfiguration((event) => {
        if (event.affectsConfiguration('files') || event.affectsConfiguration('search')) forget();
      }),
    );
  }

  dispose(): void {
    this.#subscriptions.dispose();
  }

  all(): Promise<readonly WorkspaceFile[]> {
    this.#files ??= findFiles().catch((error: unknown) => {
      this.#files = undefined;
      throw error;
    });
    return this.#files;
  }

  /** Agent names: files of `.filechat/` beside the chat or in a workspace folder. */
  async agents(chat: vscode.Uri): Promise<readonly string[]> {
    const roots = (vscode.workspace.workspaceFolders ?? []).map(({ uri }) => uri);
    const folders = [vscode.Uri.joinPath(chat, '..'), ...roots].map(
      (folder) => `${vscode.Uri.joinPath(folder, '.filechat').path}/`,
    );
    const names = (await this.all()).flatMap(({ uri: { path } }) => {
      const folder = folders.find((each) => path.startsWith(each));
      const name = folder && /^([^/]+)\.md$/.exec(path.slice(folder.length))?.[1];
      return name ? [name] : [];
    });
    return [...new Set(names)].sort();
  }
}

async function findFiles(): Promise<readonly WorkspaceFile[]> {
  const settings = ['files', 'search'].map((section) => vscode.workspace.getConfiguration(section));
  const excluded = settings.flatMap((each) => Object.entries(each.get<object>('exclude', {})));
  const patterns = excluded.flatMap(([pattern, isOn]) => (isOn === true ? [pattern] : []));
  const pattern = patterns.length === 0 ? undefined : `{${patterns.join(',')}}`;
  const found = await vscode.workspace.findFiles('**/*', pattern, MAX_FILES);
  const folders = vscode.workspace.workspaceFolders?.length ?? 0;
  return found.map((uri) => ({ uri, path: vscode.workspace.asRelativePath(uri, folders > 1) }));
}
