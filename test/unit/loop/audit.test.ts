import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { ToolResult } from '../../../src/ports/results.ts';
import type { AuditEntry } from '../../../src/ports/tools.ts';
import { type SceneOptions, scene } from './scriptedChat.ts';

const CHAT = 'file:///x.chat.md';
const CALL = (tool: string) => `# %% user\n\`\`\`tool_call a.${tool}\n{"n":"é"}\n\`\`\`\n`;

const RESULT: ToolResult = {
  isError: false,
  parts: [
    { kind: 'text', text: 'été' },
    { kind: 'asset', asset: { kind: 'image', number: 1, path: 'cmdassets/a.png' } },
    { kind: 'data', json: '{}' },
  ],
};

/** A chat and its audit entries. */
function listen(options: SceneOptions, text = CALL('read')) {
  const entries: AuditEntry[] = [];
  const stage = scene(text, [], {
    consent: () => ({ kind: 'allow', by: 'asked' }),
    callTool: async () => RESULT,
    chat: () => CHAT,
    audit: { record: (entry) => entries.push(entry) },
    ...options,
  });
  return { ...stage, entries };
}

async function run(options: SceneOptions, text?: string) {
  const { listener, document, entries } = listen(options, text);
  await listener.run();
  return { entries, text: document.text() };
}

/** Without the duration, which varies. */
function timeless(entries: readonly AuditEntry[]): object[] {
  return entries.map(({ ms, ...entry }) => ({ ...entry, timed: typeof ms === 'number' }));
}

const ABOUT = { kind: 'call', server: 'a', name: 'read', chat: CHAT, argumentBytes: 10 };

describe('the audit of calls', () => {
  it('records the consent, the sizes in bytes, and the outcome', async () => {
    const { entries } = await run({ consent: () => ({ kind: 'allow', by: 'remembered' }) });
    assert.deepEqual(timeless(entries), [
      { ...ABOUT, consent: 'remembered', outcome: 'ok', resultBytes: 7, assets: 1, timed: true },
    ]);
  });

  it('names the files of a call that was sent, also if it failed, and not of one that was not', async () => {
    const given = [{ name: 'asset:a.pdf', bytes: 5 }];
    const files = (isRead: boolean): NonNullable<SceneOptions['files']> => ({
      prepare: async (args) => ({
        ok: true,
        notes: [],
        files: given,
        resolve: async () => (isRead ? { ok: true, arguments: args } : { ok: false, message: 'gone' }),
      }),
    });
    const failing = async () => Promise.reject(new Error('gone'));
    const recorded = await Promise.all([
      run({ files: files(true) }),
      run({ files: files(true), callTool: failing }),
      run({ files: files(false) }),
    ]);
    assert.deepEqual(
      recorded.flatMap(({ entries }) => entries.map((entry) => [entry.outcome, entry.files])),
      [
        ['ok', given],
        ['error', given],
        ['error', undefined],
      ],
    );
  });

  const outcomes = (entries: readonly AuditEntry[]) =>
    entries.map(({ outcome, consent }) => `${outcome} ${consent}`);
  const made: Record<string, SceneOptions['callTool']> = {
    'a tool that reports an error': async () => ({ isError: true, parts: [{ kind: 'text', text: 'No.' }] }),
    'a call that never got a result': async () => Promise.reject(new Error('gone')),
  };
  for (const [name, callTool] of Object.entries(made)) {
    it(`${name} is an error`, async () => {
      const { entries } = await run({ ...(callTool && { callTool }) });
      assert.deepEqual(outcomes(entries), ['error asked']);
    });
  }

  it('a call that is stopped while it runs is recorded as cancelled', async () => {
    const { listener, entries } = listen({
      callTool: async (_call, signal) => {
        listener.stop();
        signal?.throwIfAborted();
        return RESULT;
      },
    });
    await listener.run();
    assert.deepEqual(outcomes(entries), ['cancelled asked']);
  });

  const notMade: Record<string, [options: SceneOptions, outcome: AuditEntry['outcome'], tool?: string]> = {
    'a call that the user declines is denied': [
      { consent: () => ({ kind: 'deny', reason: 'no' }) },
      'denied',
    ],
    'a question that is closed is cancelled': [{ consent: () => ({ kind: 'cancel' }) }, 'cancelled'],
    'a question that is withdrawn is cancelled': [{ consent: () => ({ kind: 'withdraw' }) }, 'cancelled'],
    'a tool that is switched off is denied': [{ isSwitchedOff: () => true }, 'denied'],
    'a tool that is for apps only is denied': [{ toolInfo: { forAppsOnly: true } }, 'denied'],
    'a tool that does not exist is an error': [{}, 'error', 'nope'],
  };
  for (const [name, [options, outcome, tool = 'read']] of Object.entries(notMade)) {
    it(`${name}, without consent`, async () => {
      const callTool = () => assert.fail('It was called.');
      const { entries } = await run({ ...options, callTool }, CALL(tool));
      assert.deepEqual(timeless(entries), [{ ...ABOUT, name: tool, outcome, timed: false }]);
    });
  }

  it('a call from the palette is recorded once', async () => {
    const { listener, entries } = listen({}, '# %% user\n');
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
    await run({
      callTool: async (_call, _signal, chat) => {
        chats.push(chat);
        return RESULT;
      },
    });
    assert.deepEqual(chats, [CHAT]);
  });

  it('the refusal of an app-only tool explains that only apps may call it', async () => {
    const { text } = await run({ toolInfo: { forAppsOnly: true } });
    assert.match(text, /The tool a\.read is only for the apps of its server\. No tool was called\./);
  });

  it('the refusal of a disabled tool names the setting', async () => {
    const { text } = await run({ isSwitchedOff: ({ tool }) => tool === 'read' });
    assert.match(text, /The tool a\.read is turned off in the setting filechat\.disabledTools/);
  });
});
