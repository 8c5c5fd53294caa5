/** The tests' end of the bridge into the extension host. */
import { createHash } from 'node:crypto';
import { request } from 'node:http';
import { fileURLToPath } from 'node:url';
import type * as vscode from 'vscode';
import { waitFor } from './process.ts';

/** Shorter than a test may take, so that a picture of what hangs can be taken. */
const answerTimeoutMs = 60_000;

export const bridgeExtension = fileURLToPath(new URL('./bridge-extension', import.meta.url));

/**
 * Evaluates a function in the extension host. It travels as text, so it sees `vscode` and its
 * arguments but nothing that surrounds it; arguments and result travel as JSON.
 */
export type Evaluate = <Args extends readonly unknown[], Result>(
  ask: (api: typeof vscode, ...args: Args) => Result | PromiseLike<Result>,
  ...args: Args
) => Promise<Result>;

/**
 * What the bridge of the window with this workspace listens on. The server has the folder of the sockets in
 * FILECHAT_BRIDGES, and windows that follow each other have workspaces of their own.
 */
export function bridgeSocket(bridges: string, workspace: string): string {
  const name = createHash('sha256').update(workspace).digest('hex').slice(0, 16);
  return process.platform === 'win32' ? `\\\\.\\pipe\\filechat-${name}` : `${bridges}/${name}.sock`;
}

/** Resolves when the extension host listens. */
export async function connectBridge(socket: string, timeoutMs = 30_000): Promise<Evaluate> {
  const evaluate: Evaluate = async (ask, ...args) => {
    const answer = await post(socket, JSON.stringify({ source: String(ask), args }));
    const { value, error } = JSON.parse(answer);
    if (error !== undefined) throw new Error(`In the extension host: ${error}`);
    return value;
  };
  await waitFor('the extension host', timeoutMs, () => evaluate(() => true).catch(() => undefined));
  return evaluate;
}

/** Does what ends the extension host, such as a reload, and resolves when the next one listens. */
export async function untilNextHost(evaluate: Evaluate, end: () => Promise<unknown>): Promise<void> {
  const old = await evaluate(() => process.pid);
  await end();
  await nextHost(evaluate, old);
}

/** Resolves when an extension host listens that is not this one. */
export async function nextHost(evaluate: Evaluate, old: number): Promise<void> {
  await waitFor('the next extension host', 30_000, async () => {
    const current = await evaluate(() => process.pid).catch(() => old);
    return current === old ? undefined : true;
  });
}

/** Resolves to the text of the document in front once it holds the expected words; typed keys arrive late. */
export async function waitForText(evaluate: Evaluate, expected: string, timeoutMs = 15_000): Promise<string> {
  return evaluate(
    (api, words, limitMs) =>
      new Promise<string>((resolve, reject) => {
        const text = () => api.window.activeTextEditor?.document.getText() ?? '(no editor)';
        const look = () => {
          if (text().includes(words)) end(() => resolve(text()));
        };
        const end = (settle: () => void) => {
          clearTimeout(timer);
          for (const subscription of subscriptions) subscription.dispose();
          settle();
        };
        const giveUp = () =>
          end(() => reject(new Error(`“${words}” did not come. There is:\n${text().slice(-5_000)}`)));
        const timer = setTimeout(giveUp, limitMs);
        const subscriptions = [
          api.workspace.onDidChangeTextDocument(look),
          api.window.onDidChangeActiveTextEditor(look),
        ];
        look();
      }),
    expected,
    timeoutMs,
  );
}

async function post(socketPath: string, body: string): Promise<string> {
  const { promise, resolve, reject } = Promise.withResolvers<string>();
  const posted = request({ socketPath, method: 'POST' }, (response) => {
    response.toArray().then((chunks) => resolve(Buffer.concat(chunks).toString()), reject);
  });
  const giveUp = () => posted.destroy(new Error('The extension host did not answer in time.'));
  posted.once('error', reject).setTimeout(answerTimeoutMs, giveUp).end(body);
  return promise;
}
