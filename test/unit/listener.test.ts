import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import type { FileArguments } from '../../src/ports/document.ts';
import type { ConsentAnswer, ToolCall } from '../../src/ports/tools.ts';
import { type MemoryDocument, scene } from './loop/scriptedChat.ts';
import { NEXT, OK, RESULT } from './loop/words.ts';

interface Given {
  readonly answer?: ConsentAnswer;
  readonly during?: (document: MemoryDocument) => void;
  readonly whileAsked?: (document: MemoryDocument) => void;
  readonly files?: FileArguments;
}

/** A chat whose tools return their arguments. */
function stage(chat: string, { answer = { kind: 'allow' }, during, whileAsked, files }: Given = {}) {
  const asked: ToolCall[] = [];
  const { document, ...rest } = scene(chat, [], {
    consent: (call) => {
      asked.push(call);
      whileAsked?.(document);
      return answer;
    },
    callTool: async () => {
      during?.(document);
      return undefined;
    },
    files,
  });
  return { ...rest, document, asked };
}

async function run(chat: string, given?: Given) {
  const { listener, document, ...rest } = stage(chat, given);
  const outcome = await listener.run();
  return { ...rest, outcome, text: document.text() };
}

/** A call as the user writes it, or as it is with an id. */
const CALL = (json = '{}', id = '', tool = 'write') =>
  `\`\`\`tool_call a.${tool}${id && ` ${id}`}\n${json}\n\`\`\`\n`;
const ONE = '{"n": 1}';
const TWO = '{"n": 2}';

describe('running a chat', () => {
  it('runs the pending calls in order and ends with a user turn', async () => {
    const { outcome, text } = await run(`# %% user\nGo.\n\n${CALL(ONE)}\n${CALL(TWO)}`);
    assert.deepEqual(outcome, OK);
    const results = `${RESULT('write', 'c1', '{"n":1}')}${RESULT('write', 'c2', '{"n":2}')}`;
    assert.equal(text, `# %% user\nGo.\n\n${CALL(ONE, 'c1')}\n${CALL(TWO, 'c2')}${results}${NEXT}`);
  });

  it('a second run repeats nothing', async () => {
    const { document, listener, called } = stage(`# %% user\n${CALL()}`);
    await listener.run();
    const text = document.text();
    assert.equal((await listener.run()).ok, false);
    assert.deepEqual([called.length, document.text()], [1, text]);
  });

  it('text that is typed in the meantime stays, above, within and below', async () => {
    const { text } = await run(`# %% user\nabove\n\n${CALL()}\n# %% user\n`, {
      during: (live) =>
        live.type((now) => `${now.replace('above', 'above!').replace('-->\n\n', '-->\nwithin\n\n')}below`),
    });
    assert.equal(
      text,
      `# %% user\nabove!\n\n${CALL('{}', 'c1')}within\n${RESULT('write', 'c1', '{}')}${NEXT}below`,
    );
  });

  it('a call that was deleted while it ran still gets its result into the file', async () => {
    const during = (live: MemoryDocument) => live.type(() => '# %% user\nhm\n');
    const { text } = await run(`# %% user\n${CALL(ONE)}`, { during });
    assert.equal(text, `# %% user\nhm\n${RESULT('write', 'c1', '{"n":1}')}${NEXT}`);
  });

  it('a call that was deleted before it was sent does not run', async () => {
    const during = (live: MemoryDocument) =>
      live.type((text) => text.replace(/\n```tool_call a\.write c2[\s\S]*?```\n/, ''));
    const { called, text } = await run(`# %% user\n${CALL(ONE)}\n${CALL(TWO)}`, { during });
    assert.deepEqual([called.map(({ id }) => id), text.includes('c2')], [['c1'], false]);
  });

  it('a call that was edited before it was sent runs as edited', async () => {
    const during = (live: MemoryDocument) => live.type((text) => text.replace(TWO, '{"n": 3}'));
    const { called } = await run(`# %% user\n${CALL(ONE)}\n${CALL(TWO)}`, { during });
    assert.deepEqual(
      called.map((call) => call.arguments),
      [{ n: 1 }, { n: 3 }],
    );
  });

  it('a call that was edited after consent does not run', async () => {
    const whileAsked = (live: MemoryDocument) => live.type((text) => text.replace(ONE, TWO));
    const { outcome, called, text } = await run(`# %% user\n${CALL(ONE)}`, { whileAsked });
    assert.equal(outcome.error, 'The call a.write c1 was changed. Run again.');
    assert.deepEqual([called.length, text.includes('# %% tool')], [0, false]);
  });

  it('two calls with one id get their own results', async () => {
    const { text } = await run(`# %% user\n${CALL(ONE, 'x')}\n${CALL(TWO, 'x')}`);
    assert.ok(text.endsWith(`${RESULT('write', 'x', '{"n":1}')}${RESULT('write', 'x', '{"n":2}')}${NEXT}`));
  });

  it('a document that rejects edits runs no tool', async () => {
    const { document, listener, called } = stage(`# %% user\n${CALL()}`);
    document.refuse('says so');
    assert.equal((await listener.run()).ok, false);
    assert.equal(called.length, 0);
  });

  it('a result that cannot be written is rescued once', async () => {
    const during = (live: MemoryDocument) => live.refuse('throws');
    const { outcome, rescued, text } = await run(`# %% user\n${CALL(ONE)}`, { during });
    assert.match(outcome.error ?? '', /Could not edit the chat/);
    assert.deepEqual(rescued, ['# %% tool a.write c1\n```\n{"n":1}\n```\n']);
    assert.equal(text.includes('# %% tool'), false);
  });

  const refused: Record<string, [block: string, note: RegExp]> = {
    'arguments that are not JSON': [CALL('{"n": '), /> ⚠ The arguments are not valid JSON: /],
    'arguments that are not an object': [
      CALL('[1]'),
      /> ⚠ The arguments of a tool call must be one JSON object/,
    ],
    'a tool that does not exist': [
      CALL('{}', '', 'nope'),
      /> ⚠ The server “a” has no tool “nope”\. No tool was called\./,
    ],
    'a server that is down': [CALL().replace('a.', 'down.'), /> ⚠ Server down did not start\./],
  };
  for (const [name, [block, note]] of Object.entries(refused)) {
    it(`${name}: a note in the document, and nothing is called`, async () => {
      const { outcome, called, text } = await run(`# %% user\n${block}`);
      assert.deepEqual([outcome.ok, called.length], [false, 0]);
      assert.match(text, note);
    });
  }

  it('an invalid call is reported with its line', async () => {
    const { outcome } = await run('# %% user\nGo.\n\n```tool_call nodot\n```\n');
    assert.match(outcome.error ?? '', /^Line 4: A tool call must name its tool as SERVER\.TOOL/);
  });

  it('a failure is a note, and the next call still runs', async () => {
    const { outcome, text } = await run(`# %% user\n${CALL('{}', '', 'fail')}\n${CALL()}`);
    assert.deepEqual(outcome, { ok: false, error: 'It failed: no paper.', assets: [] });
    assert.ok(text.includes(`> ⚠ It failed: no paper.\n${RESULT('write', 'c2', '{}')}`));
  });
});

const REQUEST = { server: 'a', tool: 'write' };

describe('consent', () => {
  it('is requested with the complete call', async () => {
    const { asked } = await run(`# %% user\n${CALL(ONE)}`);
    assert.deepEqual(asked, [{ ...REQUEST, id: 'c1', arguments: { n: 1 } }]);
  });

  it('denied: the reason is in the document, and nothing is called', async () => {
    const answer: ConsentAnswer = { kind: 'deny', reason: 'not today' };
    const { called, text } = await run(`# %% user\n${CALL()}`, { answer });
    assert.match(text, /> ⚠ The user declined the call: not today\n/);
    assert.equal(called.length, 0);
  });

  it('cancelled: the calls stay pending', async () => {
    const { outcome, called, text } = await run(`# %% user\n${CALL()}${CALL()}`, {
      answer: { kind: 'cancel' },
    });
    assert.deepEqual(outcome, { ok: false, error: 'Stopped.', cancelled: true, assets: [] });
    assert.deepEqual([text.includes('# %% tool'), called.length], [false, 0]);
  });

  it('from the palette is requested for the call in the document, which keeps the answer', async () => {
    const { document, listener, abouts } = stage('# %% user\n', { answer: { kind: 'deny' } });
    assert.equal((await listener.callTool({ ...REQUEST, arguments: {} })).ok, false);
    assert.equal(abouts[0]?.written, '{}\n');
    const declined = '\n# %% tool a.write c1\n> ⚠ The user declined the call.\n';
    assert.equal(document.text(), `# %% user\n${CALL('{}', 'c1')}${declined}${NEXT}`);
  });
});

it('calling a tool writes the call, its result and an empty turn', async () => {
  const { document, listener } = stage('# %% user\nLook:\n');
  assert.deepEqual(await listener.callTool({ ...REQUEST, arguments: { n: 1 } }), OK);
  assert.equal(
    document.text(),
    `# %% user\nLook:\n\n${CALL(ONE, 'c1')}${RESULT('write', 'c1', '{"n":1}')}${NEXT}`,
  );
});

describe('files in arguments', () => {
  /** `file:a` has bytes, `file:gone` disappears during the prompt, and all others are refused. */
  const files: FileArguments = {
    prepare: async ({ x }) => {
      if (x === undefined)
        return { ok: true, notes: [], files: [], resolve: async () => ({ ok: true, arguments: {} }) };
      if (x !== 'file:a' && x !== 'file:gone') return { ok: false, message: 'The file was not used.' };
      const resolve = async () =>
        x === 'file:a'
          ? { ok: true as const, arguments: { x: 'BYTES' } }
          : { ok: false as const, message: 'The file is gone.' };
      return { ok: true, notes: [`x: ${x} → bytes`], files: [{ name: String(x), bytes: 1 }], resolve };
    },
  };
  const chat = (reference: string) => `# %% user\n${CALL(`{"x": "${reference}"}`)}`;
  const request = (x: string) => ({ ...REQUEST, arguments: { x } });

  it('the tool gets the file; the user is asked about it; the chat keeps the reference', async () => {
    const { outcome, asked, called, abouts, text } = await run(chat('file:a'), { files });
    assert.equal(outcome.ok, true);
    assert.deepEqual(called, [{ ...request('BYTES'), id: 'c1' }]);
    assert.deepEqual(asked[0]?.arguments, { x: 'file:a' });
    assert.deepEqual(abouts[0]?.notes, ['x: file:a → bytes']);
    assert.ok(text.startsWith(`# %% user\n${CALL('{"x": "file:a"}', 'c1')}`));
  });

  it('called from the palette, the call is written with the reference', async () => {
    const { document, listener, called } = stage('# %% user\n', { files });
    assert.equal((await listener.callTool(request('file:a'))).ok, true);
    assert.deepEqual(called[0]?.arguments, { x: 'BYTES' });
    assert.ok(document.text().includes(CALL('{"x": "file:a"}', 'c1')));
  });

  it('refused: a note in the document, no consent prompt, and the next call still runs', async () => {
    const { outcome, asked, called, text } = await run(`${chat('file:b')}\n${CALL()}`, { files });
    assert.deepEqual(outcome, { ok: false, error: 'The file was not used.', assets: [] });
    assert.match(text, /\n# %% tool a\.write c1\n> ⚠ The file was not used\.\n\n# %% tool a\.write c2\n/);
    assert.deepEqual([asked.length, called.length], [1, 1]);
  });

  it('refused from the palette: nothing is written, as for other refusals', async () => {
    const { document, listener } = stage('# %% user\n', { files });
    assert.equal((await listener.callTool(request('file:b'))).error, 'The file was not used.');
    assert.equal(document.text(), '# %% user\n');
  });

  it('missing after consent: a note, and nothing is called', async () => {
    const { outcome, called, text } = await run(chat('file:gone'), { files });
    assert.deepEqual([outcome.error, called.length], ['The file is gone.', 0]);
    assert.match(text, /> ⚠ The file is gone\./);
  });
});

describe('a chat whose tool does not respond', () => {
  /** Runs until the first call has begun; it ends only when it is stopped. */
  async function hang(chat: string) {
    const begun = Promise.withResolvers<void>();
    const rest = scene(chat, [], {
      callTool: (_call, signal) => {
        begun.resolve();
        return new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
      },
    });
    const running = rest.listener.run();
    await begun.promise;
    return { ...rest, running };
  }

  it('can be stopped: the tool is cancelled, a note is written, and nothing more runs', async () => {
    const { document, listener, called, running } = await hang(`# %% user\n${CALL()}\n${CALL()}`);
    assert.equal(listener.isRunning, true);
    listener.stop();
    assert.equal((await running).ok, false);
    assert.match(document.text(), /> ⚠ The call was stopped before its result arrived\./);
    assert.deepEqual([called.length, listener.isRunning], [1, false]);
  });

  it('does not run a second time', async () => {
    const { listener, running } = await hang(`# %% user\n${CALL()}`);
    assert.match((await listener.run()).error ?? '', /running already/);
    listener.stop();
    await running;
  });
});
