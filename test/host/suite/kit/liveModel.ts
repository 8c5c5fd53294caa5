import { dirname, join } from 'node:path';
import * as vscode from 'vscode';
import type { RunOutcome } from '../../../../src/ports/document.ts';
import {
  type Asked,
  send,
  startWireServer,
  type WireServer,
  words,
} from '../../../integration/helpers/wireServer.ts';
import { holds, openChat, setSetting } from './workspace.ts';

export const run = (uri: vscode.Uri) => vscode.commands.executeCommand<RunOutcome>('filechat.run', { uri });
export const HI = '# %% user\nHi\n';
export const CURSOR = '<!-- filechat:writing';

/** A model on the real wire, which says what a test lets it say, as the only model of the user's. */
export class LiveModel {
  /** What it does when it is asked. Without it, it says “One two” and then nothing more. */
  answer: (asked: Asked) => void = (asked) => void send(asked, words('One two'));
  #server: WireServer | undefined;
  #stop: (() => void) | undefined;

  async start(): Promise<void> {
    const after = (stop: () => void) => {
      this.#stop = stop;
    };
    this.#server = await startWireServer({ after }, (asked) => this.answer(asked));
    const model = { provider: 'openai-chat', model: 'm', baseUrl: this.#server.url };
    await setSetting('models', { live: model });
    await setSetting('defaultModel', 'live');
    await setSetting('approve', 'auto');
  }

  async dispose(): Promise<void> {
    this.#stop?.();
    await setSetting('models', undefined);
    await setSetting('defaultModel', undefined);
  }

  get asked(): readonly Asked[] {
    return this.#server?.asked ?? [];
  }

  /** The last request. */
  get last(): Asked {
    const last = this.asked.at(-1);
    if (!last) throw new Error('The model was never asked.');
    return last;
  }

  /** A chat in which the model has said “One two” and says nothing more. */
  async openHalf(name: string, text = HI) {
    this.answer = (asked) => void send(asked, words('One two'));
    const document = await openChat(name, text);
    const running = run(document.uri);
    await holds(document, 'One two');
    return { document, running, asked: this.last };
  }
}

/** What is kept of replies and results that their chats did not take, in the order of their names. */
export async function recovered(): Promise<readonly string[]> {
  const folder = vscode.Uri.file(join(await storageFolder(), 'recovered'));
  const files = await vscode.workspace.fs.readDirectory(folder).then(
    (found) => found,
    () => [],
  );
  return Promise.all(
    files
      .toSorted(([a], [b]) => (a < b ? -1 : 1))
      .map(async ([name]) =>
        new TextDecoder().decode(await vscode.workspace.fs.readFile(vscode.Uri.joinPath(folder, name))),
      ),
  );
}

/** A chat that is not saved has its assets in the extension's own storage, which so becomes known. */
async function storageFolder(): Promise<string> {
  const uri = vscode.Uri.parse('untitled:storage.chat.md');
  await vscode.window.showTextDocument(await vscode.workspace.openTextDocument(uri));
  const call = { server: 'mine', tool: 'photo', uri };
  const { assets, error } = await vscode.commands.executeCommand<RunOutcome>('filechat.callTool', call);
  await vscode.commands.executeCommand('workbench.action.revertAndCloseActiveEditor');
  const [asset] = assets;
  if (asset === undefined) throw new Error(`The storage is not known: ${error}`);
  return dirname(dirname(asset));
}
