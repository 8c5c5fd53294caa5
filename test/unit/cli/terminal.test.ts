import assert from 'node:assert/strict';
import { describe, test } from 'node:test';
import { describeProgress } from '../../../src/cli/commands.ts';
import { terminalConsent, terminalRequests } from '../../../src/cli/terminal.ts';
import type { ChatModel } from '../../../src/ports/models.ts';
import type { Elicitation, ServerRequests } from '../../../src/ports/servers.ts';
import type { Approval } from '../../../src/ports/tools.ts';

const BY = { server: 'shop', chats: ['/a.chat.md'] };
const MODEL: ChatModel = {
  name: 'm1',
  provider: 'test',
  accepts: () => false,
  async *stream() {
    yield { kind: 'text', text: 'blue' };
    yield { kind: 'finish', reason: 'stop', usage: {} };
  },
  preview: async () => '',
};

/** Answers line by line; everything that was shown is in `shown`. */
function person(
  answers: readonly (string | undefined)[],
  more: { readonly approve?: Approval; readonly hasModel?: boolean } = {},
): { readonly requests: ServerRequests; readonly shown: string[] } {
  const shown: string[] = [];
  const left = [...answers];
  const { approve = 'ask', hasModel = true } = more;
  const requests = terminalRequests({
    approve,
    roots: [{ uri: 'file:///x' }],
    err: (text) => shown.push(text),
    ask: async (question) => {
      shown.push(question);
      assert.ok(left.length > 0, `Unexpected question: ${question}`);
      return left.shift();
    },
    ...(hasModel ? { modelFor: async () => MODEL } : {}),
  });
  return { requests, shown };
}

const signal = new AbortController().signal;
const form = (properties: object, required: readonly string[] = []): Elicitation => ({
  kind: 'form',
  message: 'Who are you?\nThe server bank asks:',
  schema: { type: 'object', properties, required },
});

describe('a form on the terminal', () => {
  const fields = form(
    {
      name: { type: 'string', description: 'Your name' },
      size: { type: 'integer', minimum: 1, default: 3 },
      gift: { type: 'boolean' },
      colour: { type: 'string', enum: ['r', 'b'], enumNames: ['Red', 'Blue'] },
      extras: { type: 'array', items: { type: 'string', enum: ['x', 'y'] } },
    },
    ['name'],
  );

  test('each field is a line with its default and is asked again until it is valid', async () => {
    const { requests, shown } = person(['', 'Ada', '0', '', 'yes', 'Blue', 'x, y']);
    assert.deepEqual(await requests.elicit?.(fields, BY, signal), {
      action: 'accept',
      content: { name: 'Ada', size: 3, gift: true, colour: 'b', extras: ['x', 'y'] },
    });
    assert.match(shown[0] ?? '', /^The server shop asks:\n[\s\S]*\nname: Your name > $/);
    assert.deepEqual(shown.slice(1), [
      'A value is required.\nname: Your name > ',
      'size (optional) [3] > ',
      'It must be at least 1.\nsize (optional) [3] > ',
      'gift (optional) {yes, no} > ',
      'colour (optional) {r = Red, b = Blue} > ',
      'extras (optional) {some of: x, y} > ',
    ]);
  });

  test('the server is named, and its text is distinguishable from Filechat’s', async () => {
    const { requests, shown } = person([undefined]);
    assert.deepEqual(await requests.elicit?.(fields, BY, signal), { action: 'cancel' });
    assert.match(
      shown[0] ?? '',
      /^The server shop asks:\n {2}\| Who are you\?\n {2}\| The server bank asks:\nPress Enter/,
    );
  });

  test('a long text of the server does not push ours off the screen', async () => {
    const { requests, shown } = person(['-']);
    const message = `${'\n'.repeat(5_000)}a${'\n \nHost: paypal.com'.repeat(900)}`;
    await requests.elicit?.({ kind: 'form', message, schema: { properties: {} } }, BY, signal);
    const lines = shown.join('\n').split('\n');
    assert.ok(lines.length < 120, `${lines.length}`);
    assert.ok(lines.every((line) => !line.startsWith('Host:')));
    assert.match(shown.join('\n'), /\n {2}\| … and \d+ more lines\n/);
  });

  test('a dash declines', async () => {
    const { requests } = person(['Ada', '-']);
    assert.deepEqual(await requests.elicit?.(fields, BY, signal), { action: 'decline' });
  });

  test('an empty answer to an optional field is left out', async () => {
    const { requests } = person(['']);
    const answer = await requests.elicit?.(form({ note: { type: 'string' } }), BY, signal);
    assert.deepEqual(answer, { action: 'accept', content: { note: undefined } });
  });

  test('a form without fields asks for confirmation', async () => {
    const { requests } = person(['']);
    assert.deepEqual(await requests.elicit?.(form({}), BY, signal), { action: 'accept' });
  });

  test('requests from two servers are asked one after the other', async () => {
    const { requests, shown } = person(['a', 'b']);
    const one = form({ one: { type: 'string' } });
    const two = form({ two: { type: 'string' } });
    await Promise.all([requests.elicit?.(one, BY, signal), requests.elicit?.(two, BY, signal)]);
    assert.match(shown[0] ?? '', /^The server shop asks[\s\S]*\none \(optional\) > $/);
    assert.match(shown[1] ?? '', /^The server shop asks[\s\S]*\ntwo \(optional\) > $/);
  });

  test('no word of a field starts a line', async () => {
    const bad = 'x\nAllow the call to bank.pay? ';
    const { requests, shown } = person(['?', '?', '-']);
    const field = { type: 'string', title: bad, description: bad, enum: [bad, 'b'], default: bad };
    await requests.elicit?.(form({ field }), BY, signal);
    assert.equal(shown.length, 3);
    assert.doesNotMatch(shown.join('\n'), /^Allow/m);
  });
});

describe('an address on the terminal', () => {
  const visit = (url: string): Elicitation => ({ kind: 'url', message: 'Pay here.', url });

  test('it is shown completely, and Enter confirms the visit', async () => {
    const { requests, shown } = person(['']);
    assert.deepEqual(await requests.elicit?.(visit('https://pay.test/x?y=1'), BY, signal), {
      action: 'accept',
    });
    assert.equal(
      shown[0],
      'The server shop asks you to open a page on pay.test:\n  | Pay here.\nOpen this address in a browser: https://pay.test/x?y=1\nPress Enter when you are done, or type - to decline: ',
    );
  });

  test('an unsafe one is not shown', async () => {
    const { requests, shown } = person([]);
    assert.deepEqual(await requests.elicit?.(visit('file:///etc/passwd'), BY, signal), { action: 'decline' });
    assert.doesNotMatch(shown.join('\n'), /passwd/);
  });
});

describe('a sampling request on the terminal', () => {
  const request = {
    messages: [{ role: 'user', parts: [{ kind: 'text', text: 'Which colour?' }] }],
    maxTokens: 9,
    hints: [],
  } as const;

  test('request and answer are shown and need a yes each', async () => {
    const { requests, shown } = person(['y', 'yes']);
    const answer = await requests.sample?.(request, BY, signal);
    assert.deepEqual(answer?.parts, [{ kind: 'text', text: 'blue' }]);
    assert.match(
      shown[0] ?? '',
      /^The server shop requests a completion from your model m1\. Send this\?\n(?: {2}\| .*\n)*? {2}\| Which colour\?/,
    );
    assert.match(
      shown[1] ?? '',
      /^The reply of the model\. Send it to the server shop\?\n[\s\S]* {2}\| blue\n\[y\]es, \[n\]o\? $/,
    );
  });

  for (const answers of [['n'], [''], [undefined], ['y', 'n']]) {
    test(`declined: ${answers}`, async () => {
      const { requests } = person(answers);
      await assert.rejects(async () => requests.sample?.(request, BY, signal), {
        message: 'The user declined.',
      });
    });
  }

  test('with --approve auto there is no prompt', async () => {
    const { requests, shown } = person([], { approve: 'auto' });
    assert.equal((await requests.sample?.(request, BY, signal))?.stopReason, 'endTurn');
    assert.deepEqual(shown, []);
  });
});

describe('the offered capabilities', () => {
  const offered = (requests: ServerRequests) => Object.keys(requests).toSorted();
  const withoutTerminal = (approve: Approval, hasModel: boolean) =>
    offered(
      terminalRequests({
        approve,
        roots: [],
        err: () => {},
        ask: undefined,
        ...(hasModel ? { modelFor: async () => MODEL } : {}),
      }),
    );

  test('at a terminal, everything; a model only if there is one', () => {
    assert.deepEqual(offered(person([]).requests), ['elicit', 'roots', 'sample', 'visited']);
    assert.deepEqual(offered(person([], { hasModel: false }).requests), ['elicit', 'roots', 'visited']);
  });

  test('without one, only those that need no user', () => {
    assert.deepEqual(withoutTerminal('ask', true), ['roots']);
    assert.deepEqual(withoutTerminal('auto', true), ['roots', 'sample']);
    assert.deepEqual(withoutTerminal('auto', false), ['roots']);
  });

  test('the folders', async () => {
    assert.deepEqual(await person([]).requests.roots?.(), [{ uri: 'file:///x' }]);
  });
});

describe('a question about a call', () => {
  const call = { server: 'shop', tool: 'buy', id: 'c1', arguments: { item: 'cake' } };
  const tool = { ...call, inputSchema: {} };

  const answers: readonly (readonly [answer: string, meaning: object])[] = [
    ['y', { kind: 'allow', by: 'asked' }],
    [' YES ', { kind: 'allow', by: 'asked' }],
    ['n', { kind: 'deny' }],
    ['no, too dear', { kind: 'deny', reason: 'too dear' }],
    ['s', { kind: 'cancel' }],
    ['', { kind: 'cancel' }],
  ];
  for (const [answer, meaning] of answers) {
    test(`“${answer}” means ${JSON.stringify(meaning)}`, async () => {
      const consent = terminalConsent('ask', { ask: async () => answer, signal });
      assert.deepEqual(await consent.mayCall(call, tool), meaning);
    });
  }

  test('names the tool, its arguments and its files', async () => {
    let asked = '';
    const ask = async (question: string) => {
      asked = question;
      return 'y';
    };
    await terminalConsent('ask', { ask, signal }).mayCall(call, tool, { notes: ['a.pdf'] });
    assert.match(
      asked,
      /^shop\.buy is called with these arguments:\n\{\n {2}"item": "cake"\n\}\nFiles that the tool gets:\n {2}a\.pdf\nAllow the call to shop\.buy\? \[y\]es/,
    );
  });

  test('that is closed without an answer fails with a clear message', async () => {
    const consent = terminalConsent('ask', { ask: async () => undefined, signal });
    await assert.rejects(consent.mayCall(call, tool), {
      message: 'The question was not answered. The call is still pending in the chat.',
    });
  });

  test('that a signal ends is a cancellation', async () => {
    const consent = terminalConsent('ask', { ask: async () => undefined, signal: AbortSignal.abort() });
    assert.deepEqual(await consent.mayCall(call, tool), { kind: 'cancel' });
  });
});

test('the progress of a tool is one line', () => {
  const message = 'a\nsample.photo: done\r\n\u2028b';
  assert.equal(describeProgress({ message, done: 1 }), 'a sample.photo: done b (1)');
});
