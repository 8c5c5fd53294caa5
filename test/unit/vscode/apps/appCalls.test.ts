import assert from 'node:assert/strict';
import { test } from 'node:test';
import type { ChatRules } from '../../../../src/ports/models.ts';
import type {
  AboutCall,
  AuditEntry,
  ConsentAnswer,
  ToolCall,
  ToolInfo,
} from '../../../../src/ports/tools.ts';
import { AppCalls } from '../../../../src/vscode/apps/appCalls.ts';

const CHAT = 'file:///x.chat.md';
const TOOL: ToolInfo = { server: 'a', tool: 'read', inputSchema: {} };
const newCall = (): ToolCall => ({ server: 'a', tool: 'read', id: '', arguments: { n: 'é' } });
const ABOUT = { kind: 'call', server: 'a', name: 'read', chat: CHAT, argumentBytes: 10 };
const OPEN: ChatRules = { allows: () => true, allowsServer: () => true };

interface SceneOptions {
  readonly rules?: ChatRules | Error;
  readonly off?: boolean;
  readonly answer?: ConsentAnswer;
  readonly result?: unknown;
}

/** The calls of an app, with all questions, requests and audit entries. */
function scene({
  rules = OPEN,
  off = false,
  answer = { kind: 'allow', by: 'asked' },
  result,
}: SceneOptions = {}) {
  const entries: AuditEntry[] = [];
  const asked: (AboutCall | undefined)[] = [];
  const sent: unknown[] = [];
  const reply = async (what: unknown) => {
    sent.push(what);
    if (result instanceof Error) throw result;
    return result ?? { content: [{ type: 'text', text: 'été' }] };
  };
  const calls = new AppCalls(
    {
      host: {
        callToolRaw: (call, { chat }) => reply([call.tool, chat]),
        fetchResource: async ({ uri }) => {
          await reply(uri);
          return [];
        },
      },
      rulesFor: async () => {
        if (rules instanceof Error) throw rules;
        return rules;
      },
      isSwitchedOff: () => off,
      consent: {
        mayCall: async (_call, _tool, about) => {
          asked.push(about);
          return answer;
        },
      },
      audit: { record: (entry) => entries.push(entry) },
    },
    CHAT,
  );
  return { calls, entries, asked, sent };
}

const timeless = (entries: readonly AuditEntry[]) => entries.map(({ ms: _ms, ...entry }) => entry);

test('a call of an app follows the rules of its chat, and is audited with its consent', async () => {
  const rules: ChatRules = { ...OPEN, approve: 'ask' };
  const { calls, entries, asked, sent } = scene({ rules, answer: { kind: 'allow', by: 'remembered' } });
  const call = newCall();
  assert.equal(await calls.mayCall(call, TOOL), true);
  assert.deepEqual(entries, []);
  await calls.call(call, new AbortController().signal);
  assert.deepEqual(asked, [{ chat: CHAT, approve: 'ask' }]);
  assert.deepEqual(sent, [['read', CHAT]]);
  assert.deepEqual(timeless(entries), [{ ...ABOUT, consent: 'remembered', outcome: 'ok', resultBytes: 5 }]);
});

const REFUSED: readonly (readonly [string, SceneOptions, RegExp])[] = [
  [
    'a tool that is switched off',
    { off: true },
    /a\.read is turned off in the setting filechat\.disabledTools/,
  ],
  [
    'a tool that the chat does not allow',
    { rules: { ...OPEN, allows: () => false } },
    /This chat does not allow the tool a\.read/,
  ],
  ['a tool of a chat whose rules cannot be read', { rules: new Error('Line 2: no.') }, /Line 2: no\./],
];
for (const [name, options, reason] of REFUSED) {
  test(`an app cannot call ${name}, and the user is not asked`, async () => {
    const { calls, entries, asked } = scene(options);
    await assert.rejects(calls.mayCall(newCall(), TOOL), reason);
    assert.deepEqual(asked, []);
    assert.deepEqual(entries, [{ ...ABOUT, outcome: 'denied' }]);
  });
}

const NOT_ALLOWED: readonly (readonly [ConsentAnswer['kind'], AuditEntry['outcome']])[] = [
  ['deny', 'denied'],
  ['cancel', 'cancelled'],
  ['withdraw', 'cancelled'],
];
for (const [kind, outcome] of NOT_ALLOWED) {
  test(`the user’s answer “${kind}” is ${outcome} in the audit log`, async () => {
    const { calls, entries } = scene({ answer: { kind } as ConsentAnswer });
    assert.equal(await calls.mayCall(newCall(), TOOL), false);
    assert.deepEqual(entries, [{ ...ABOUT, outcome }]);
  });
}

test('a call without permission is not sent, and an allowed call is sent once', async () => {
  const { calls, sent } = scene();
  const call = newCall();
  const { signal } = new AbortController();
  await assert.rejects(calls.call(call, signal), /was not allowed/);
  await calls.mayCall(call, TOOL);
  await calls.call(call, signal);
  await assert.rejects(calls.call(call, signal), /was not allowed/);
  assert.equal(sent.length, 1);
});

const ENDS: readonly (readonly [string, unknown, boolean, AuditEntry['outcome']])[] = [
  ['reports an error', { isError: true, content: [] }, false, 'error'],
  ['looks like a declined form', { action: 'decline', content: [] }, false, 'ok'],
  ['never answers', new Error('gone'), false, 'error'],
  ['was stopped', new Error('stopped'), true, 'cancelled'],
];
for (const [name, result, isStopped, outcome] of ENDS) {
  test(`a call that ${name} is ${outcome} in the audit log`, async () => {
    const { calls, entries } = scene({ result });
    const call = newCall();
    await calls.mayCall(call, TOOL);
    const signal = isStopped ? AbortSignal.abort() : new AbortController().signal;
    await calls.call(call, signal).catch(() => {});
    assert.deepEqual(
      entries.map((entry) => [entry.outcome, entry.consent]),
      [[outcome, 'asked']],
    );
  });
}

test('a resource that an app reads is audited', async () => {
  const { calls, entries } = scene();
  await calls.read({ server: 'a', uri: 'db://x' }, { maxBytes: 1 });
  assert.deepEqual(timeless(entries), [
    { kind: 'resource', server: 'a', name: 'db://x', chat: CHAT, outcome: 'ok' },
  ]);
});
