import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ChatListener } from '../../../src/listener.ts';
import type { ToolCallDeps } from '../../../src/loop/calls.ts';
import type { ToolResult } from '../../../src/ports/results.ts';
import type { AuditEntry, ConsentAnswer, ToolHost, ToolInfo } from '../../../src/ports/tools.ts';
import { MemoryDocument } from './scriptedChat.ts';

const TOOL: ToolInfo = { server: 'a', tool: 'read', inputSchema: {} };
const CHAT = 'file:///x.chat.md';
const written = (name: string, json = '{"n":"é"}') =>
  `# %% user\n\`\`\`tool_call a.${name}\n${json}\n\`\`\`\n`;

const RESULT: ToolResult = {
  isError: false,
  parts: [
    { kind: 'text', text: 'été' },
    { kind: 'asset', asset: { kind: 'image', number: 1, path: 'cmdassets/a.png' } },
    { kind: 'data', json: '{}' },
  ],
};

interface SceneOptions extends Partial<Pick<ToolCallDeps, 'isSwitchedOff'>> {
  readonly text?: string;
  readonly tool?: ToolInfo;
  readonly answer?: ConsentAnswer;
  readonly callTool?: ToolHost['callTool'];
}

/** Runs the chat and returns the audit entries. */
function listen({ text = written('read'), tool = TOOL, answer, callTool, ...more }: SceneOptions) {
  const entries: AuditEntry[] = [];
  const document = new MemoryDocument(text);
  const listener = new ChatListener({
    document,
    tools: {
      listTools: async () => ({ tools: [tool], failures: [] }),
      callTool: callTool ?? (async () => RESULT),
    },
    consent: { mayCall: async () => answer ?? { kind: 'allow', by: 'asked' } },
    assets: {
      beginResult: () => ({
        spillFolder: () => Promise.reject(new Error('no folder')),
        save: () => Promise.reject(new Error('no save')),
      }),
    },
    log: { info() {}, warn() {}, error() {} },
    chat: CHAT,
    audit: { record: (entry) => entries.push(entry) },
    ...more,
  });
  return { document, listener, entries };
}

/** Without the duration, which varies. */
function timeless(entries: readonly AuditEntry[]): object[] {
  return entries.map(({ ms, ...entry }) => ({ ...entry, timed: typeof ms === 'number' }));
}

const ABOUT = { kind: 'call', server: 'a', name: 'read', chat: CHAT, argumentBytes: 10 };

describe('the audit of calls', () => {
  it('records the consent, the sizes in bytes, and the outcome', async () => {
    const { listener, entries } = listen({ answer: { kind: 'allow', by: 'remembered' } });
    await listener.run();
    assert.deepEqual(timeless(entries), [
      { ...ABOUT, consent: 'remembered', outcome: 'ok', resultBytes: 7, assets: 1, timed: true },
    ]);
  });

  const made: readonly [name: string, callTool: ToolHost['callTool']][] = [
    ['a tool that reports an error', async () => ({ isError: true, parts: [{ kind: 'text', text: 'No.' }] })],
    ['a call that never got a result', async () => Promise.reject(new Error('gone'))],
  ];
  for (const [name, callTool] of made) {
    it(`${name} is an error`, async () => {
      const { listener, entries } = listen({ callTool });
      await listener.run();
      assert.deepEqual(
        entries.map(({ outcome, consent }) => [outcome, consent]),
        [['error', 'asked']],
      );
    });
  }

  it('a call that is stopped while it runs is recorded as cancelled', async () => {
    const { listener, entries } = listen({
      callTool: async (_call, { signal }) => {
        listener.stop();
        signal?.throwIfAborted();
        return RESULT;
      },
    });
    await listener.run();
    assert.deepEqual(
      entries.map(({ outcome, consent }) => [outcome, consent]),
      [['cancelled', 'asked']],
    );
  });

  const notMade: readonly [name: string, options: SceneOptions, outcome: AuditEntry['outcome']][] = [
    ['what the user declines is denied', { answer: { kind: 'deny', reason: 'no' } }, 'denied'],
    ['a question that is closed is cancelled', { answer: { kind: 'cancel' } }, 'cancelled'],
    ['a call that the user wants to change is cancelled', { answer: { kind: 'edit' } }, 'cancelled'],
    ['a tool that is switched off is denied', { isSwitchedOff: () => true }, 'denied'],
    ['a tool that is for apps only is denied', { tool: { ...TOOL, forAppsOnly: true } }, 'denied'],
    ['a tool that nobody has is an error', { text: written('nope') }, 'error'],
  ];
  for (const [name, options, outcome] of notMade) {
    it(`${name}, without consent`, async () => {
      const { listener, entries } = listen({
        ...options,
        callTool: () => assert.fail('It was called.'),
      });
      await listener.run();
      const tool = options.text === undefined ? 'read' : 'nope';
      assert.deepEqual(timeless(entries), [{ ...ABOUT, name: tool, outcome, timed: false }]);
    });
  }

  it('a call from the palette is recorded once', async () => {
    const { listener, entries } = listen({ text: '# %% user\n' });
    await listener.callTool({ server: 'a', tool: 'read', arguments: { n: 'é' } });
    assert.deepEqual(
      entries.map(({ outcome, argumentBytes }) => [outcome, argumentBytes]),
      [['ok', 10]],
    );
  });
});

describe('related to the audit', () => {
  it('the tool gets the address of the calling chat', async () => {
    const chats: unknown[] = [];
    const { listener } = listen({
      callTool: async (_call, { chat }) => {
        chats.push(chat);
        return RESULT;
      },
    });
    await listener.run();
    assert.deepEqual(chats, [CHAT]);
  });

  it('the refusal of an app-only tool says who may call it', async () => {
    const { document, listener } = listen({ tool: { ...TOOL, forAppsOnly: true } });
    await listener.run();
    assert.match(
      document.text(),
      /The tool a\.read is only for the apps of its server\. Nothing was called\./,
    );
  });

  it('the refusal of a disabled tool names the setting', async () => {
    const { document, listener } = listen({ isSwitchedOff: ({ tool }) => tool === 'read' });
    await listener.run();
    assert.match(document.text(), /The tool a\.read is switched off\. The setting filechat\.disabledTools/);
  });
});
