import { acquireLock } from '../assets/chatLock.ts';
import { attachAddress } from '../loop/attachAddress.ts';
import { FileDocument } from './fileDocument.ts';
import { alreadyRunning, assetsBeside } from './recovery.ts';
import { limitsOf, readCliSettings } from './settings.ts';
import type { AttachCommand, CliContext } from './usage.ts';

/** Fetches an address into a chat. Resolves to the exit status. */
export async function attach(command: AttachCommand, context: CliContext): Promise<0 | 1> {
  const settings = await readCliSettings(command);
  const document = await FileDocument.open(command.chat, { orCreate: true });
  const lock = await acquireLock(document.path);
  if ('holder' in lock) throw new Error(alreadyRunning(command.chat, lock.holder));
  try {
    const { ok, error, assets } = await attachAddress(command.address, {
      document,
      assets: assetsBeside(document.path),
      limits: limitsOf(settings),
      mayFetch: (url, signal) => mayFetch(url, command, { ask: context.ask, signal }),
      signal: context.signal,
      timeoutMs: settings.timeoutSeconds * 1000,
    });
    for (const path of assets) context.out(path);
    if (!ok) context.err(error ?? 'The address could not be fetched.');
    return ok ? 0 : 1;
  } finally {
    await lock.release();
  }
}

async function mayFetch(
  url: URL,
  { allowHost }: AttachCommand,
  { ask, signal }: Pick<CliContext, 'ask' | 'signal'>,
): Promise<boolean> {
  if (allowHost === url.host) return true;
  if (!ask)
    throw new Error(
      `Fetching ${url.href} needs your permission, but there is no terminal to ask in. To allow it, add --allow-host ${url.host}.`,
    );
  const answer = await ask(
    `Fetch ${url.href} from ${url.host} and save it beside the chat? [y]es, [n]o: `,
    signal,
  );
  return /^y(es)?$/i.test(answer?.trim() ?? '');
}
