import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { mkdtemp, readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { after, describe, it } from 'node:test';
import { FolderAssets } from '../../../src/assets/store.ts';
import { nextAction } from '../../../src/chat/format/nextAction.ts';
import { parseChat, turnBody } from '../../../src/chat/format/parse.ts';
import { FileDocument } from '../../../src/cli/fileDocument.ts';
import { CONSENT_GIVEN } from '../../../src/cli/terminal.ts';
import { ChatListener } from '../../../src/listener.ts';
import type { ServerConfig } from '../../../src/mcp/config/types.ts';
import type { ToolProgress } from '../../../src/ports/tools.ts';
import { readToolResult } from '../../../src/result/markdown.ts';
import { temporaryFolder } from '../../kit/folder.ts';
import { assertEveryBlockKept } from '../helpers/checkBlocks.ts';
import { openSession, type Session } from '../helpers/connect.ts';
import { readRecord, recordedSample, startSampleOverHttp } from '../helpers/sampleServer.ts';
import type { Arguments } from '../helpers/serving.ts';

interface Expected {
  readonly tool: string;
  readonly args: Arguments;
  readonly markdown: string;
}

/** Cases of the form `===== TOOL ARGUMENTS`, and below it the Markdown, in which times and ids are words. */
function readExpected(): readonly Expected[] {
  const text = readFileSync(new URL('./sample-results.txt', import.meta.url), 'utf8');
  return text
    .split(/^===== /m)
    .slice(1)
    .map((section) => {
      const [, tool = '', json = '', markdown = ''] = /^(\S+) (.*)\n([\s\S]*)\n$/.exec(section) ?? [];
      return { tool, args: JSON.parse(json), markdown };
    });
}

const STAMP = /(?<=cmdassets\/tool-[a-z]+-)\d{8}-\d{6}-[A-Za-z0-9]{8,}(?=-\d+\.)/g;

const expected = readExpected();
const folder = temporaryFolder({ after });
const transports: readonly (readonly [name: string, config: ServerConfig])[] = [
  ['stdio', recordedSample(join(folder, 'stdio'))],
  ['Streamable HTTP', await startSampleOverHttp({ after })],
];

for (const [transport, config] of transports) {
  describe(`the sample server over ${transport}`, () => {
    const session = openSession({ after }, { sample: config });

    it('has the tools whose results are expected below', async () => {
      const { tools, failures } = await session.client.listTools();
      assert.deepEqual(failures, []);
      assert.deepEqual(
        tools.map(({ tool }) => tool),
        expected.map(({ tool }) => tool),
      );
    });

    for (const { tool, args, markdown } of expected) {
      it(`${tool} has the expected Markdown and complete files`, async () => {
        const called = await session.call(`sample.${tool}`, args);
        assert.equal(called.markdown.replaceAll(STAMP, 'TIME-ID'), markdown);
        const stamps = new Set(called.markdown.match(STAMP));
        assert.ok(stamps.size <= 1, 'all files of one result share one time and one id');
        await assertEveryBlockKept(called);
      });
    }

    it('mixed has the layout of the seed: text, PNG, text, JPEG, text, with one blank line between', async () => {
      const { markdown } = await session.call('sample.mixed');
      assert.match(
        markdown,
        new RegExp(
          [
            "^Here's the first generated image:",
            String.raw`!\[Tool generated image 1\]\(cmdassets\/tool-image-(\d{8}-\d{6}-[A-Za-z0-9]{8,})-1\.png\)`,
            "And here's another image showing a different view:",
            String.raw`!\[Tool generated image 2\]\(cmdassets\/tool-image-\1-2\.jpg\)`,
            String.raw`Analysis of both images\.\.\.$`,
          ].join('\n\n'),
        ),
      );
    });

    it('slow reports its progress; an abort ends it, and the server stays usable', async () => {
      const stop = new AbortController();
      const told: ToolProgress[] = [];
      const onProgress = (progress: ToolProgress) => {
        told.push(progress);
        if (told.length === 2) stop.abort(new Error('enough'));
      };
      await assert.rejects(
        session.call('sample.slow', { seconds: 20, steps: 100 }, { signal: stop.signal, onProgress }),
        /^Error: enough$/,
      );
      assert.deepEqual(told.slice(0, 2), [
        { message: 'Step 1 of 100', done: 1, total: 100 },
        { message: 'Step 2 of 100', done: 2, total: 100 },
      ]);
      const { markdown } = await session.call('sample.fail', { reason: 'Still here.' });
      assert.match(markdown, /Still here\./);
    });
  });
}

describe('an aborted call of the sample server', () => {
  it('is cancelled in the server, too: the process exits without being killed', async () => {
    // It has two seconds to exit, which may be too short on a busy machine.
    const lives: boolean[] = [];
    while (lives.length < 5 && !lives.includes(true)) lives.push(await leavesAfterAbort(lives.length));
    assert.equal(lives.at(-1), true, 'it had to be killed each time');
  });

  async function leavesAfterAbort(round: number): Promise<boolean> {
    const record = join(folder, `aborted-${round}`);
    const session = openSession({ after }, { sample: recordedSample(record) });
    const stop = new AbortController();
    const slow = session.call(
      'sample.slow',
      { seconds: 60, steps: 100 },
      { signal: stop.signal, onProgress: () => stop.abort() },
    );
    await assert.rejects(slow);
    await session.call('sample.weather');
    await session.client.dispose();
    return readRecord(record).every(({ leftByItself }) => leftByItself);
  }
});

describe('a hostile result in a chat file', () => {
  const session = openSession({ after }, { sample: recordedSample(join(folder, 'hostile')) });

  const chats: Readonly<Record<string, string>> = {
    'a new chat': '# %% user\n',
    'a chat with front matter and turns':
      '---\napprove: ask\n---\n# %% user\nHi.\n\n# %% assistant\nHello.\n',
    'a chat with CRLF': '# %% user\r\nHi.\r\n\r\n# %% assistant\r\nHello.\r\n\r\n# %% user\r\nCall it.\r\n',
  };
  for (const [name, text] of Object.entries(chats)) {
    it(`adds to ${name} the same turns as a harmless one, and no call`, async () => {
      const [harmless, hostile] = [
        await callInChat(session, text, 'weather'),
        await callInChat(session, text, 'hostile'),
      ];
      assert.deepEqual(hostile.roles, harmless.roles);
      assert.equal(hostile.callCount, 1);
      assert.equal(nextAction(hostile.text).kind, 'wait');
      assert.equal(parseChat(hostile.text).frontMatter, parseChat(text).frontMatter);
    });

    it(`is read back unchanged from ${name}`, async () => {
      const { sent } = await session.call('sample.hostile');
      const { toolTurn } = await callInChat(session, text, 'hostile');
      const { parts } = readToolResult(toolTurn);
      assert.deepEqual(
        parts.map((part) => (part.kind === 'text' ? part.text : part.kind)),
        sent.content.map((block) => block.text ?? 'asset'),
      );
    });
  }
});

/** Calls a tool in a chat file as the command line does, and reads the file again. */
async function callInChat(session: Session, before: string, tool: string) {
  const chatFolder = await mkdtemp(join(folder, 'chat-'));
  const path = join(chatFolder, 'a.chat.md');
  await writeFile(path, before);
  const ignore = () => {};
  const listener = new ChatListener({
    document: await FileDocument.open(path),
    assets: new FolderAssets({ folder: chatFolder }),
    tools: session.client,
    consent: CONSENT_GIVEN,
    log: { info: ignore, warn: ignore, error: ignore },
  });
  assert.equal((await listener.callTool({ server: 'sample', tool, arguments: {} })).ok, true);
  const text = await readFile(path, 'utf8');
  const { turns } = parseChat(text);
  const toolTurns = turns.filter(({ role }) => role === 'tool').map((turn) => turnBody(text, turn));
  return {
    text,
    roles: turns.map(({ role }) => role),
    callCount: turns.flatMap(({ calls }) => calls).length,
    toolTurn: toolTurns.at(-1) ?? '',
  };
}
