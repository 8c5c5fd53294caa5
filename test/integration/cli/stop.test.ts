import assert from 'node:assert/strict';
import type { ChildProcess } from 'node:child_process';
import { readdir } from 'node:fs/promises';
import { describe, it } from 'node:test';
import { nextAction } from '../../../src/chat/format/nextAction.ts';
import { parseChat } from '../../../src/chat/format/parse.ts';
import { needsSignals } from '../../windows/needs.ts';
import { checkEnd, createCliFolder, MCP_JSON } from '../helpers/runCli.ts';
import { isAlive } from '../helpers/serving.ts';

const SLOW = '```tool_call sample.slow\n{ "seconds": 60, "steps": 100 }\n```\n';

type Interrupt = (child: ChildProcess & { readonly pid: number }) => void;

const interrupts: readonly (readonly [name: string, send: Interrupt])[] = [
  ['SIGINT', (child) => child.kill('SIGINT')],
  ['SIGTERM', (child) => child.kill('SIGTERM')],
  ['SIGHUP', (child) => child.kill('SIGHUP')],
  // Like a terminal, which sends the signal to the server as well.
  ['SIGINT to the whole process group', (child) => process.kill(-child.pid, 'SIGINT')],
];

describe('filechat stopped by a signal', needsSignals, () => {
  for (const [name, send] of interrupts) {
    it(`${name} during a call exits with 1 and leaves a valid chat and no process`, async (t) => {
      const cli = await createCliFolder(t);
      await cli.write('a.chat.md', `# %% user\n${SLOW}\n\`\`\`tool_call sample.order\n\`\`\`\n`);
      const args = ['run', 'a.chat.md', '--servers', MCP_JSON, '--approve', 'auto'];
      const running = cli.start(args, { detached: true });
      await running.said(/^sample\.slow: Step 1 of 100/m);
      send(running.process as ChildProcess & { readonly pid: number });
      checkEnd(await running.ended, { code: 1 });
      const chat = await cli.read('a.chat.md');
      const { turns, problems } = parseChat(chat);
      assert.deepEqual(problems, []);
      assert.deepEqual(
        turns.map(({ role, markerText }) => `${role} ${markerText}`.trim()),
        ['user', 'tool sample.slow c1', 'user'],
      );
      assert.match(chat, /^# %% tool sample\.slow c1\n> ⚠ .*stopped.*\n$/m);
      const action = nextAction(chat);
      assert.deepEqual(action.kind === 'runTools' && action.calls.map(({ tool }) => tool), ['order']);
      assert.equal(cli.servers().length, 1);
      assert.ok(cli.servers().every(({ pid }) => !isAlive(pid)));
    });
  }

  it('SIGKILL during a call: the next run reports it and does not send it again', async (t) => {
    const cli = await createCliFolder(t);
    await cli.write('a.chat.md', `# %% user\n${SLOW}`);
    const args = ['run', 'a.chat.md', '--servers', MCP_JSON, '--approve', 'auto'];
    const running = cli.start(args);
    await running.said(/^sample\.slow: Step 1 of 100/m);
    running.process.kill('SIGKILL');
    await running.ended;
    const { stderr } = checkEnd(await cli.run(...args), { code: 1 });
    assert.match(
      stderr,
      /^sample\.slow c1: The outcome of this call is unknown: .*, so it was not sent again\.\n$/,
    );
    const chat = await cli.read('a.chat.md');
    assert.match(
      chat,
      /^```\n\n# %% tool sample\.slow c1\n> ⚠ The outcome of this call is unknown: .*\n\n# %% user\n$/m,
    );
    assert.equal(cli.servers().length, 1, 'no server was started for it');
    assert.deepEqual(await readdir(cli.path), ['a.chat.md', 'mcp.json']);
  });
});
