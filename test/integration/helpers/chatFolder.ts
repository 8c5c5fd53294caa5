import type { TestContext } from 'node:test';
import { until } from '../../kit/until.ts';
import { type CliFolder, createCliFolder, MCP_JSON, type RunningCli } from './runCli.ts';
import { type Asked, startWireServer, type WireServer } from './wireServer.ts';

export interface ChatFolder extends CliFolder {
  readonly server: WireServer;
  /** `filechat run a.chat.md`, with every tool allowed unless the arguments say otherwise. */
  runChat(...more: string[]): RunningCli;
  chat(): Promise<string>;
  /** Resolves as soon as the chat satisfies the condition. */
  until(isSo: (chat: string) => boolean): Promise<string>;
}

/** A folder with the chat `a.chat.md`, and a model that answers as a test says. */
export async function createChatFolder(
  t: TestContext,
  chat: string,
  answer: (asked: Asked) => void,
): Promise<ChatFolder> {
  const cli = await createCliFolder(t);
  const server = await startWireServer(t, answer);
  const model = { provider: 'openai-chat', model: 'm', baseUrl: server.url };
  await cli.write('models.json', JSON.stringify({ models: { it: model } }));
  await cli.write('a.chat.md', chat);
  const read = () => cli.read('a.chat.md');
  return {
    ...cli,
    server,
    chat: read,
    runChat: (...more) => {
      const approve = more.includes('--approve') ? [] : ['--approve', 'auto'];
      return cli.start([
        'run',
        'a.chat.md',
        '--models',
        'models.json',
        '--servers',
        MCP_JSON,
        ...approve,
        ...more,
      ]);
    },
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
