import * as vscode from 'vscode';
import type { ServerHost } from '../../ports/servers.ts';
import type { ServerRow } from './items.ts';
import type { ListedServer, ServerList } from './serverList.ts';

type Host = Pick<ServerHost, 'states' | 'onDidChange'>;
type List = Pick<ServerList, 'all' | 'onDidChange'>;

/** The configured servers and their states, cached until something changes. */
export class ServerRows implements vscode.Disposable {
  readonly #host: Host;
  readonly #list: List;
  readonly #changed = new vscode.EventEmitter<string | undefined>();
  readonly #disposables: vscode.Disposable;
  #rows: Promise<readonly ServerRow[]> | undefined;

  /** The server whose row has changed; undefined when any may have. */
  readonly onDidChange = this.#changed.event;

  constructor(host: Host, list: List) {
    this.#host = host;
    this.#list = list;
    this.#disposables = vscode.Disposable.from(
      host.onDidChange((server, what) => {
        if (what === 'state') this.#change(server);
      }),
      list.onDidChange(() => this.#change(undefined)),
      this.#changed,
    );
  }

  dispose(): void {
    this.#disposables.dispose();
  }

  /** Sends nothing to any server. */
  all(): Promise<readonly ServerRow[]> {
    this.#rows ??= this.#read().catch((error: unknown) => {
      this.#rows = undefined;
      throw error;
    });
    return this.#rows;
  }

  /** Bypasses the cache: the editor reports a file change only after a delay. */
  reload(): Promise<readonly ServerRow[]> {
    this.#rows = undefined;
    return this.all();
  }

  async find(server: string): Promise<ServerRow | undefined> {
    return (await this.all()).find((row) => row.server === server);
  }

  async #read(): Promise<readonly ServerRow[]> {
    // The view shows that no server can be started.
    if (!vscode.workspace.isTrusted) return [];
    const [listed, states] = await Promise.all([this.#list.all(), this.#host.states()]);
    return listed.map((each) => ({
      server: each.name,
      source: each.source,
      isRemote: each.config.kind !== 'stdio',
      state: stateOf(each, states.get(each.name)),
    }));
  }

  #change(server: string | undefined): void {
    this.#rows = undefined;
    this.#changed.fire(server);
  }
}

function stateOf(
  { isAllowed, problem }: ListedServer,
  state: ServerRow['state'] | undefined,
): ServerRow['state'] {
  if (!isAllowed) return { kind: 'unasked' };
  return problem === undefined ? (state ?? { kind: 'idle' }) : { kind: 'failed', reason: problem };
}
