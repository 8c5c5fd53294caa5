import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { ChatListener, type ListenerDeps } from '../../src/listener.ts';
import type { ChatDocument, FileArguments, TextEdit } from '../../src/ports/document.ts';
import type { ToolResult } from '../../src/ports/results.ts';
import type { ConsentAnswer, ToolCall, ToolHost, ToolInfo } from '../../src/ports/tools.ts';
import { applyEdit } from '../kit/applyEdit.ts';

class MemoryDocument implements ChatDocument {
  #text: string;

  constructor(text: string) {
    this.#text = text;
  }

  text() {
    return this.#text;
  }

  async edit(compute: (text: string) => TextEdit | undefined) {
    const edit = compute(this.#text);
    this.#text = applyEdit(this.#text, edit);
    return edit !== undefined;
  }

  type(change: (text: string) => string) {
    this.#text = change(this.#text);
  }

  async save(): Promise<boolean> {
    return true;
  }

  onDidChange() {
    return { dispose() {} };
  }
}

const notHere = () => Promise.reject(new Error('nothing is saved here'));
const says = (text: string): ToolResult => ({ isError: false, parts: [{ kind: 'text', text }] });
const TOOLS: readonly ToolInfo[] = ['echo', 'fail', 'hang'].map((tool) => ({
  server: 'a',
  tool,
  inputSchema: {},
}));

interface Scene {
  readonly document: MemoryDocument;
  readonly listener: ChatListener;
  readonly asked: ToolCall[];
  readonly called: ToolCall[];
  readonly rescued: string[];
  readonly notes: (readonly string[] | undefined)[];
}

function scene(
  text: string,
  {
    answer = { kind: 'allow' } as ConsentAnswer,
    during = () => {},
    whileAsked = () => {},
    files,
  }: {
    answer?: ConsentAnswer;
    during?: (document: MemoryDocument) => void;
    whileAsked?: (document: MemoryDocument) => void;
    files?: FileArguments;
  } = {},
): Scene {
  const document = new MemoryDocument(text);
  const asked: ToolCall[] = [];
  const called: ToolCall[] = [];
  const rescued: string[] = [];
  const notes: (readonly string[] | undefined)[] = [];
  const tools: ToolHost = {
    listTools: async (server) => ({
      tools: TOOLS.filter((tool) => tool.server === server),
      failures: server === 'down' ? [{ server, reason: 'Server down did not start.' }] : [],
    }),
    callTool: async (call, { signal }) => {
      called.push(call);
      during(document);
      if (call.tool === 'fail') throw new Error('Tool fail of server a failed: no.');
      if (call.tool === 'hang')
        await new Promise((_, reject) => signal?.addEventListener('abort', () => reject(signal.reason)));
      return says(JSON.stringify(call.arguments));
    },
  };
  const parts: ListenerDeps = {
    document,
    tools,
    assets: { beginResult: () => ({ spillFolder: notHere, save: notHere }) },
    consent: {
      mayCall: async (call, _tool, { notes: told } = {}) => {
        asked.push(call);
        notes.push(told);
        whileAsked(document);
        return answer;
      },
    },
    log: { info() {}, warn() {}, error() {} },
    rescue: (markdown) => rescued.push(markdown),
    ...(files ? { files } : {}),
  };
  return { document, listener: new ChatListener(parts), asked, called, rescued, notes };
}

const CALL = (tool: string, body = '{}', id = '') =>
  `\`\`\`tool_call a.${tool}${id && ` ${id}`}\n${body}\n\`\`\`\n`;

describe('running a chat', () => {
  it('runs the pending calls in order and ends with a user turn', async () => {
    const { document, listener } = scene(
      `# %% user\nGo.\n\n${CALL('echo', '{"n": 1}')}\n${CALL('echo', '{"n": 2}')}`,
    );
    assert.deepEqual(await listener.run(), { ok: true, assets: [] });
    assert.equal(
      document.text(),
      `# %% user\nGo.\n\n${CALL('echo', '{"n": 1}', 'c1')}\n${CALL('echo', '{"n": 2}', 'c2')}\n# %% tool a.echo c1\n\`\`\`\n{"n":1}\n\`\`\`\n\n# %% tool a.echo c2\n\`\`\`\n{"n":2}\n\`\`\`\n\n# %% user\n`,
    );
  });

  it('a second run repeats nothing', async () => {
    const { document, listener, called } = scene(`# %% user\n${CALL('echo')}`);
    await listener.run();
    const text = document.text();
    assert.equal((await listener.run()).ok, false);
    assert.deepEqual([called.length, document.text()], [1, text]);
  });

  it('text that is typed in the meantime stays, above, within and below', async () => {
    const { document, listener } = scene(`# %% user\nabove\n\n${CALL('echo')}\n# %% user\n`, {
      during: (live) =>
        live.type((text) => `${text.replace('above', 'above!').replace('-->\n\n', '-->\nwithin\n\n')}below`),
    });
    await listener.run();
    assert.equal(
      document.text(),
      `# %% user\nabove!\n\n${CALL('echo', '{}', 'c1')}within\n\n# %% tool a.echo c1\n\`\`\`\n{}\n\`\`\`\n\n# %% user\nbelow`,
    );
  });

  it('a call that was deleted while it ran still gets its result into the file', async () => {
    const { document, listener } = scene(`# %% user\n${CALL('echo', '{"n": 1}')}`, {
      during: (live) => live.type(() => '# %% user\nhm\n'),
    });
    await listener.run();
    assert.equal(document.text(), '# %% user\nhm\n\n# %% tool a.echo c1\n```\n{"n":1}\n```\n\n# %% user\n');
  });

  it('a call that was deleted before it was sent does not run', async () => {
    const { document, listener, called } = scene(
      `# %% user\n${CALL('echo', '{"n": 1}')}\n${CALL('echo', '{"n": 2}')}`,
      {
        during: (live) => live.type((text) => text.replace(/\n```tool_call a\.echo c2[\s\S]*?```\n/, '')),
      },
    );
    await listener.run();
    assert.deepEqual(
      called.map((call) => call.id),
      ['c1'],
    );
    assert.equal(document.text().includes('c2'), false);
  });

  it('a call that was edited before it was sent runs as edited', async () => {
    const { listener, called } = scene(
      `# %% user\n${CALL('echo', '{"n": 1}')}\n${CALL('echo', '{"n": 2}')}`,
      {
        during: (live) => live.type((text) => text.replace('{"n": 2}', '{"n": 3}')),
      },
    );
    await listener.run();
    assert.deepEqual(
      called.map((call) => call.arguments),
      [{ n: 1 }, { n: 3 }],
    );
  });

  it('a call that was edited after consent does not run', async () => {
    const { document, listener, called } = scene(`# %% user\n${CALL('echo', '{"n": 1}')}`, {
      whileAsked: (live) => live.type((text) => text.replace('{"n": 1}', '{"n": 2}')),
    });
    assert.equal((await listener.run()).error, 'The call a.echo c1 was changed. Run again.');
    assert.deepEqual([called.length, document.text().includes('# %% tool')], [0, false]);
  });

  it('two calls with one id get their own results', async () => {
    const { document, listener } = scene(
      `# %% user\n${CALL('echo', '{"n": 1}', 'x')}\n${CALL('echo', '{"n": 2}', 'x')}`,
    );
    await listener.run();
    assert.match(
      document.text(),
      /# %% tool a\.echo x\n```\n\{"n":1\}\n```\n\n# %% tool a\.echo x\n```\n\{"n":2\}/,
    );
  });

  it('a document that rejects edits runs no tool', async () => {
    const { document, listener, called } = scene(`# %% user\n${CALL('echo')}`);
    document.edit = async () => false;
    assert.equal((await listener.run()).ok, false);
    assert.equal(called.length, 0);
  });

  it('a result that cannot be written is rescued once', async () => {
    const { document, listener, rescued } = scene(`# %% user\n${CALL('echo', '{"n": 1}')}`, {
      during: (live) => {
        live.edit = () => Promise.reject(new Error('gone'));
      },
    });
    assert.match((await listener.run()).error ?? '', /Could not edit the chat/);
    assert.deepEqual(rescued, ['# %% tool a.echo c1\n```\n{"n":1}\n```\n']);
    assert.equal(document.text().includes('# %% tool'), false);
  });

  const refused: Record<string, [block: string, note: RegExp]> = {
    'arguments that are no JSON': [CALL('echo', '{"n": '), /> ⚠ The arguments are not valid JSON: /],
    'arguments that are no object': [
      CALL('echo', '[1]'),
      /> ⚠ The arguments of a tool call are one JSON object/,
    ],
    'a tool that does not exist': [
      CALL('nope'),
      /> ⚠ The server “a” has no tool “nope”\. Nothing was called\./,
    ],
    'a server that is down': [CALL('echo').replace('a.echo', 'down.echo'), /> ⚠ Server down did not start\./],
  };
  for (const [name, [block, note]] of Object.entries(refused)) {
    it(`${name}: a note in the document, and nothing is called`, async () => {
      const { document, listener, called } = scene(`# %% user\n${block}`);
      assert.equal((await listener.run()).ok, false);
      assert.match(document.text(), note);
      assert.equal(called.length, 0);
    });
  }

  it('an invalid call is reported with its line', async () => {
    const { listener } = scene('# %% user\nGo.\n\n```tool_call nodot\n```\n');
    assert.match(
      (await listener.run()).error ?? '',
      /^Line 4: A tool call must name its tool as SERVER\.TOOL/,
    );
  });

  it('a failure is a note, and the next call still runs', async () => {
    const { document, listener } = scene(`# %% user\n${CALL('fail')}\n${CALL('echo')}`);
    assert.deepEqual(await listener.run(), {
      ok: false,
      error: 'Tool fail of server a failed: no.',
      assets: [],
    });
    assert.match(
      document.text(),
      /> ⚠ Tool fail of server a failed: no\.\n\n# %% tool a\.echo c2\n```\n\{\}/,
    );
  });
});

describe('consent', () => {
  it('is requested with the complete call', async () => {
    const { listener, asked } = scene(`# %% user\n${CALL('echo', '{"n": 1}')}`);
    await listener.run();
    assert.deepEqual(asked, [{ server: 'a', tool: 'echo', id: 'c1', arguments: { n: 1 } }]);
  });

  it('denied: the reason is in the document, and nothing is called', async () => {
    const { document, listener, called } = scene(`# %% user\n${CALL('echo')}`, {
      answer: { kind: 'deny', reason: 'not today' },
    });
    await listener.run();
    assert.match(document.text(), /> ⚠ The user declined the call: not today\n/);
    assert.equal(called.length, 0);
  });

  it('cancelled: the calls stay pending', async () => {
    const { document, listener, called } = scene(`# %% user\n${CALL('echo')}${CALL('echo')}`, {
      answer: { kind: 'cancel' },
    });
    assert.deepEqual(await listener.run(), { ok: false, error: 'Stopped.', cancelled: true, assets: [] });
    assert.equal(document.text().includes('# %% tool'), false);
    assert.equal(called.length, 0);
  });

  it('denied from the palette: nothing is written', async () => {
    const { document, listener } = scene('# %% user\n', { answer: { kind: 'deny' } });
    assert.equal((await listener.callTool({ server: 'a', tool: 'echo', arguments: {} })).ok, false);
    assert.equal(document.text(), '# %% user\n');
  });
});

describe('calling a tool', () => {
  it('writes the call, its result and an empty turn', async () => {
    const { document, listener } = scene('# %% user\nLook:\n');
    assert.deepEqual(await listener.callTool({ server: 'a', tool: 'echo', arguments: { n: 1 } }), {
      ok: true,
      assets: [],
    });
    assert.equal(
      document.text(),
      `# %% user\nLook:\n\n${CALL('echo', '{"n": 1}', 'c1')}\n# %% tool a.echo c1\n\`\`\`\n{"n":1}\n\`\`\`\n\n# %% user\n`,
    );
  });
});

describe('files in arguments', () => {
  /** `file:a` has bytes, `file:gone` disappears during the prompt, and all others are refused. */
  const files: FileArguments = {
    prepare: async ({ x }) => {
      if (x === undefined) return { ok: true, notes: [], resolve: async () => ({ ok: true, arguments: {} }) };
      if (x !== 'file:a' && x !== 'file:gone') return { ok: false, message: 'The file was not used.' };
      const resolve = async () =>
        x === 'file:a'
          ? { ok: true as const, arguments: { x: 'BYTES' } }
          : { ok: false as const, message: 'The file is gone.' };
      return { ok: true, notes: [`x: ${x} → bytes`], resolve };
    },
  };
  const chat = (reference: string) => `# %% user\n${CALL('echo', `{"x": "${reference}"}`)}`;

  it('the tool gets the file; the user is asked about it; the chat keeps the reference', async () => {
    const { document, listener, asked, called, notes } = scene(chat('file:a'), { files });
    assert.equal((await listener.run()).ok, true);
    assert.deepEqual(called, [{ server: 'a', tool: 'echo', id: 'c1', arguments: { x: 'BYTES' } }]);
    assert.deepEqual(asked[0]?.arguments, { x: 'file:a' });
    assert.deepEqual(notes, [['x: file:a → bytes']]);
    assert.ok(document.text().startsWith(`# %% user\n${CALL('echo', '{"x": "file:a"}', 'c1')}`));
  });

  it('called from the palette, the call is written with the reference', async () => {
    const { document, listener, called } = scene('# %% user\n', { files });
    const request = { server: 'a', tool: 'echo', arguments: { x: 'file:a' } };
    assert.equal((await listener.callTool(request)).ok, true);
    assert.deepEqual(called[0]?.arguments, { x: 'BYTES' });
    assert.ok(document.text().includes(CALL('echo', '{"x": "file:a"}', 'c1')));
  });

  it('refused: a note in the document, no consent prompt, and the next call still runs', async () => {
    const { document, listener, asked, called } = scene(`${chat('file:b')}\n${CALL('echo')}`, { files });
    assert.deepEqual(await listener.run(), { ok: false, error: 'The file was not used.', assets: [] });
    assert.match(
      document.text(),
      /\n# %% tool a\.echo c1\n> ⚠ The file was not used\.\n\n# %% tool a\.echo c2\n/,
    );
    assert.deepEqual([asked.length, called.length], [1, 1]);
  });

  it('refused from the palette: nothing is written, as for other refusals', async () => {
    const { document, listener } = scene('# %% user\n', { files });
    const request = { server: 'a', tool: 'echo', arguments: { x: 'file:b' } };
    assert.equal((await listener.callTool(request)).error, 'The file was not used.');
    assert.equal(document.text(), '# %% user\n');
  });

  it('missing after consent: a note, and nothing is called', async () => {
    const { document, listener, called } = scene(chat('file:gone'), { files });
    assert.equal((await listener.run()).error, 'The file is gone.');
    assert.match(document.text(), /> ⚠ The file is gone\./);
    assert.equal(called.length, 0);
  });
});

describe('stopping', () => {
  it('cancels the tool, writes a note, and runs nothing more', async () => {
    const begun = Promise.withResolvers<void>();
    const { document, listener, called } = scene(`# %% user\n${CALL('hang')}\n${CALL('echo')}`, {
      during: () => begun.resolve(),
    });
    const running = listener.run();
    await begun.promise;
    assert.equal(listener.isRunning, true);
    listener.stop();
    assert.equal((await running).ok, false);
    assert.match(document.text(), /> ⚠ The call was stopped before it answered\./);
    assert.deepEqual([called.length, listener.isRunning], [1, false]);
  });

  it('a chat runs only once at a time', async () => {
    const begun = Promise.withResolvers<void>();
    const { listener } = scene(`# %% user\n${CALL('hang')}`, { during: () => begun.resolve() });
    const running = listener.run();
    await begun.promise;
    assert.match((await listener.run()).error ?? '', /running already/);
    listener.stop();
    await running;
  });
});
