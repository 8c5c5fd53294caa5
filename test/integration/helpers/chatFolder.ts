import type { TestContext } from 'node:test';
import { until } from '../../kit/until.ts';
import { type CliEnd, type CliFolder, createCliFolder, MCP_JSON, type RunningCli } from './runCli.ts';
import { type Asked, startWireServer, type WireServer } from './wireServer.ts';

export interface ChatFolder extends CliFolder {
  readonly server: WireServer;
  /** `filechat run a.chat.md` in this process, with every tool allowed unless the arguments say otherwise. */
  runChat(...more: string[]): Promise<CliEnd>;
  /** The same in a process of its own, which a test can stop. */
  startChat(): RunningCli;
  chat(): Promise<string>;
  /** Resolves as soon as the chat satisfies the condition. */
  until(isSo: (chat: string) => boolean): Promise<string>;
}

/** A folder with the chat `a.chat.md`, and a model that answers as a test says. A run without tools starts no server. */
export async function createChatFolder(
  t: TestContext,
  chat: string,
  answer: (asked: Asked) => void,
  { hasTools = true }: { readonly hasTools?: boolean } = {},
): Promise<ChatFolder> {
  const cli = await createCliFolder(t);
  const server = await startWireServer(t, answer);
  const model = { provider: 'openai-chat', model: 'm', baseUrl: server.url };
  // Of the servers of the folder, only the one that works.
  const { servers } = JSON.parse(await cli.read(MCP_JSON)) as { servers: { sample: object } };
  await cli.write(MCP_JSON, JSON.stringify({ servers: { sample: servers.sample } }));
  await cli.write('models.json', JSON.stringify({ models: { it: model } }));
  await cli.write('a.chat.md', chat);
  const read = () => cli.read('a.chat.md');
  const run = hasTools ? [...RUN, '--servers', MCP_JSON] : RUN;
  return {
    ...cli,
    server,
    chat: read,
    runChat: (...more) => {
      const approve = more.includes('--approve') ? [] : APPROVE;
      return cli.run(...run, ...approve, ...more);
    },
    startChat: () => cli.start([...run, ...APPROVE]),
    async until(isSo) {
      let now = '';
      await until(
        async () => {
          now = await read().catch(() => '');
          return isSo(now);
        },
        () => `The chat is still:\n${now}`,
      );
      return now;
    },
  };
}

const RUN = ['run', 'a.chat.md', '--models', 'models.json'];
const APPROVE = ['--approve', 'auto'];
