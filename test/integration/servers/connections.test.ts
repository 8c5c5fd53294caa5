import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { argumentQuestions } from '../../../src/mcp/schema/arguments.ts';
import type { ToolProgress } from '../../../src/ports/tools.ts';
import { firstText, fromNpm, isAlive, scripted, serve, TIMEOUT_MS } from '../helpers/serving.ts';

/** For all tests that leave the server running and unchanged. */
const plain = serve({ after }, { a: scripted() });
const everything = fromNpm('@modelcontextprotocol/server-everything', 'stdio');

describe('listing tools', () => {
  test('lists all servers at once; a failing server is named and hides no other; a real server can be called', async (t) => {
    const { client, call } = serve(t, {
      bad: { kind: 'stdio', command: 'no-such-command-anywhere', args: [], env: {} },
      debug: fromNpm('@modelcontextprotocol/server-debug', '--stdio'),
      everything,
    });
    const { tools, failures } = await client.listTools();
    assert.deepEqual(failures, [
      {
        server: 'bad',
        reason:
          'Server bad could not be started: the command "no-such-command-anywhere" was not found. Install it, or set its full path in "command".',
      },
    ]);
    const names = tools.map(({ server, tool }) => `${server}.${tool}`);
    assert.ok(names.includes('everything.get-tiny-image'), names.join());
    assert.ok(names.some((name) => name.startsWith('debug.')));
    const echo = tools.find(({ tool }) => tool === 'echo');
    assert.deepEqual(
      argumentQuestions(echo?.inputSchema).map(({ name, kind, required }) => [name, kind, required]),
      [['message', 'text', true]],
    );
    const { content } = (await call('everything.get-tiny-image')) as { content: { type: string }[] };
    assert.deepEqual(
      content.map(({ type }) => type),
      ['text', 'image', 'text'],
    );
    assert.equal(firstText(await call('everything.echo', { message: 'hé' })), 'Echo: hé');
  });

  test('one server alone, and one that does not exist', async (t) => {
    const { client } = serve(t, { a: scripted(), b: scripted() });
    const { tools } = await client.listTools('b');
    assert.deepEqual(new Set(tools.map(({ server }) => server)), new Set(['b']));
    assert.ok(tools.some(({ tool }) => tool === 'pid'));
    assert.deepEqual(await client.listTools('c'), {
      tools: [],
      failures: [{ server: 'c', reason: 'There is no server c. Configured servers: a, b.', isUnknown: true }],
      instructions: [],
      resourceServers: [],
    });
  });

  test('a broken definition hides no other tool', async (t) => {
    const { client, logged } = serve(t, { a: scripted('broken') });
    const { tools, failures } = await client.listTools();
    assert.deepEqual(failures, []);
    assert.deepEqual(tools, [
      {
        server: 'a',
        tool: 'good',
        title: 'Good',
        inputSchema: { type: 'object', properties: { a: { type: 'string' } } },
        readOnly: true,
      },
      {
        server: 'a',
        tool: 'slow',
        inputSchema: { type: 'object', properties: { a: { type: 'string', pattern: '^(a+)+$' } } },
      },
    ]);
    assert.deepEqual(
      logged.filter((line) => line.includes('is ignored')),
      [
        '[a] Tool 1 of 5 is ignored: "bad" cannot be used, because its input schema is not an object.',
        '[a] Tool 2 of 5 is ignored: it has no name.',
        '[a] Tool 3 of 5 is ignored: its name "two\\nlines" is too long or has invisible characters.',
      ],
    );
  });

  test('a list that fails on its second page keeps the first, and names the reason', async (t) => {
    const { client } = serve(t, { a: scripted('secondPageFails') });
    const { tools, failures } = await client.listTools();
    assert.equal(tools.length, 1);
    assert.match(failures[0]?.reason ?? '', /tools of server a could not be listed: lost the list\.$/);
  });

  test('a server that does not know tools has an empty list', async (t) => {
    const { client } = serve(t, { a: scripted('noTools') });
    assert.deepEqual(await client.listTools(), {
      tools: [],
      failures: [],
      instructions: [],
      resourceServers: [],
    });
  });
});

describe('calling a tool', () => {
  const { call, text } = plain;

  test('the result is unchanged, whatever it contains', async () => {
    assert.deepEqual(await call('a.odd'), {
      content: [
        { type: 'text', text: 'kept' },
        { type: 'hologram', depth: 3 },
        { type: 'image', data: '!!!!', mimeType: 'image/png' },
        { type: 'image', data: 'data:image/png;base64,iVBORw0KGgo=' },
        { type: 'text', text: 'x', annotations: { priority: 7 } },
        { type: 'resource_link', uri: 'a:b' },
        { type: 'resource', resource: { uri: 'a:b', text: 't', blob: 'YQ==' } },
        'not even an object',
      ],
      structuredContent: [1, 2],
      extra: true,
    });
    assert.deepEqual(await call('a.notAnObject'), { content: 'text where a list should be' });
  });

  test('arguments arrive unchanged', async () => {
    const args = { list: [1, { x: null }], text: 'ü\u2028"', nested: { deep: true } };
    assert.deepEqual(JSON.parse(await text('a.args', args)), args);
  });

  test('a message over 10 MiB arrives whole', async () => {
    const { content } = (await call('a.huge')) as { content: { data: string }[] };
    assert.equal(content[0]?.data.length, 11 * 1024 * 1024);
  });
});

describe('failures name the problem and the remedy', () => {
  const message = async (work: Promise<unknown>) => {
    try {
      await work;
    } catch (error) {
      return (error as Error).message;
    }
    return 'no failure';
  };

  test('an error of the protocol', async () => {
    assert.equal(await message(plain.call('a.fails')), 'Tool fails of server a failed: no such file.');
  });

  test('a server that is not configured', async (t) => {
    const { call } = serve(t, {});
    assert.equal(
      await message(call('a.x')),
      'Tool x of server a failed: There is no server a. No servers are configured.',
    );
  });

  test('a command with its arguments in it', async (t) => {
    const { call } = serve(t, { a: { kind: 'stdio', command: 'node server.js', args: [], env: {} } });
    assert.match(await message(call('a.x')), /"node server\.js" was not found\..*"args"/);
  });

  test('a folder that does not exist', async (t) => {
    const { call } = serve(t, { a: { ...scripted(), cwd: '/no/such/folder' } });
    assert.match(await message(call('a.x')), /the folder "\/no\/such\/folder" exists/);
  });

  test('a process that exits at once, with its last lines', async (t) => {
    const { call } = serve(t, { a: scripted('exits') });
    assert.equal(
      await message(call('a.x')),
      'Tool x of server a failed: Server a could not be started: its process ended. Last lines of stderr: starting | cannot read config.toml.',
    );
  });

  test('a process that exits at once without output', async (t) => {
    const { call } = serve(t, { a: { kind: 'stdio', command: process.execPath, args: ['-e', ''], env: {} } });
    assert.match(
      await message(call('a.x')),
      /its process ended\. It wrote nothing to stderr; run its command in a/,
    );
  });

  test('a process that never answers', async (t) => {
    const { call } = serve(t, { a: scripted('never starts') }, { timeoutMs: () => 300 });
    assert.match(
      await message(call('a.x')),
      /Server a could not be started: there was no response for 0\.3 s/,
    );
  });

  test('a crash ends the call with the last lines of stderr; the next use restarts the server', async (t) => {
    const { call, text } = serve(t, { a: scripted() });
    const first = await text('a.pid');
    const pending = message(call('a.hold'));
    assert.equal(
      await message(call('a.crash')),
      'Tool crash of server a failed: its process ended. Last lines of stderr: Segmentation fault.',
    );
    assert.match(await pending, /^Tool hold of server a failed: its process ended\./);
    assert.notEqual(await text('a.pid'), first);
  });
});

describe('cancelling', () => {
  test('the server is notified, the promise rejects with the reason, and a late answer is ignored', async () => {
    const { call, text } = plain;
    await text('a.pid');
    const abort = new AbortController();
    const held = call('a.hold', {}, { signal: abort.signal });
    const id = await text('a.held');
    const reason = new Error('the user pressed stop');
    abort.abort(reason);
    await assert.rejects(held, (error) => error === reason);
    assert.equal(await text('a.cancelled'), `[${id}]`);
    assert.equal(await text('a.release'), 'done');
    assert.ok(Number(await text('a.pid')) > 0, 'the connection lives on');
  });

  test('an aborted signal starts nothing', async (t) => {
    const { call, logged } = serve(t, { a: scripted() });
    await assert.rejects(
      call('a.pid', {}, { signal: AbortSignal.abort(new Error('before')) }),
      /^Error: before$/,
    );
    assert.deepEqual(logged, []);
  });

  test('a caller that stops waiting for a start does not stop it for others', async (t) => {
    const { call, text } = serve(t, { a: scripted() });
    const abort = new AbortController();
    const first = call('a.pid', {}, { signal: abort.signal });
    const second = text('a.pid');
    abort.abort(new Error('stopped'));
    await assert.rejects(first, /^Error: stopped$/);
    assert.ok(Number(await second) > 0);
  });
});

describe('time', () => {
  const minutes = (count: number) => count * 60_000;

  test('a timeout ends a call, and the server is notified', async (t) => {
    const { call, text } = serve(t, { a: scripted() });
    await text('a.pid');
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const held = call('a.hold');
    const id = await text('a.held');
    t.mock.timers.tick(TIMEOUT_MS);
    await assert.rejects(
      held,
      /Tool hold of server a failed: there was no response for 60 s\. Raise filechat\.timeoutSeconds/,
    );
    assert.equal(await text('a.cancelled'), `[${id}]`);
  });

  test('progress restarts the timeout', async (t) => {
    const { call, text } = serve(t, { a: scripted() });
    await text('a.pid');
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const seen: ToolProgress[] = [];
    const held = call('a.hold', {}, { onProgress: (progress) => seen.push(progress) });
    for (const done of [1, 2, 3]) {
      await text('a.progress', { progress: done, total: 3, message: `step ${done}` });
      t.mock.timers.tick(TIMEOUT_MS - 1);
    }
    await text('a.release');
    assert.equal(firstText(await held), 'released');
    assert.deepEqual(
      seen,
      [1, 2, 3].map((done) => ({ done, total: 3, message: `step ${done}` })),
    );
  });

  test('up to a limit', async (t) => {
    const { call, text } = serve(t, { a: scripted() }, { timeoutMs: () => minutes(50) });
    await text('a.pid');
    t.mock.timers.enable({ apis: ['setTimeout'] });
    const held = call('a.hold');
    const ended = assert.rejects(held, /Tool hold of server a failed: it ran too long and was cancelled/);
    await text('a.progress', { progress: 1 });
    t.mock.timers.tick(minutes(40));
    await text('a.progress', { progress: 2 });
    t.mock.timers.tick(minutes(20));
    await ended;
    assert.notEqual(await text('a.cancelled'), '[]');
  });
});

describe('isolated servers', () => {
  test('one that does not start does not block another', async (t) => {
    const { call, text } = serve(t, { slow: scripted('never starts'), quick: scripted() });
    const abort = new AbortController();
    const waiting = call('slow.pid', {}, { signal: abort.signal });
    assert.ok(Number(await text('quick.pid')) > 0);
    abort.abort(new Error('enough'));
    await assert.rejects(waiting, /enough/);
  });

  test('first uses at the same time share one process, and later ones too', async (t) => {
    const { text } = serve(t, { a: scripted() });
    const pids = await Promise.all([text('a.pid'), text('a.pid'), text('a.pid')]);
    pids.push(await text('a.pid'));
    assert.equal(new Set(pids).size, 1);
  });

  test('a server is not started before it is used', async (t) => {
    const { text, logged } = serve(t, { a: scripted(), b: scripted() });
    await text('a.pid');
    assert.deepEqual(
      logged.filter((line) => line.startsWith('[b]')),
      [],
    );
  });

  test('a changed configuration restarts the server and ends the old process', async (t) => {
    const { text, servers, client } = serve(t, { a: scripted() });
    const before = await text('a.pid');
    servers.set('a', scripted('plain', { CHANGED: 'yes' }));
    assert.equal(JSON.parse(await text('a.env'))['CHANGED'], 'yes');
    await client.dispose();
    assert.ok(!isAlive(Number(before)));
  });

  test('a server that is removed from the configuration is stopped', async (t) => {
    const { call, servers, text } = serve(t, { a: scripted(), b: scripted() });
    await text('a.pid');
    const held = assert.rejects(call('a.hold'), /it was removed from the configuration/);
    await text('a.held');
    servers.delete('a');
    await text('b.pid');
    await held;
  });
});

describe('closing', () => {
  test('ends every process, also one that ignores both its stdin and SIGTERM', async (t) => {
    const { text, client } = serve(t, {
      a: scripted(),
      stubborn: scripted('stubborn'),
    });
    const pids = [Number(await text('a.pid')), Number(await text('stubborn.pid'))];
    assert.deepEqual(pids.map(isAlive), [true, true]);
    await client.dispose();
    assert.deepEqual(pids.map(isAlive), [false, false]);
  });

  test('ends pending calls and refuses new ones', async (t) => {
    const { call, text, client } = serve(t, { a: scripted() });
    await text('a.pid');
    const held = assert.rejects(
      call('a.hold'),
      /^Error: Tool hold of server a failed: Filechat is closing\.$/,
    );
    await text('a.held');
    await client.dispose();
    await held;
    await assert.rejects(call('a.pid'), /Filechat is closing/);
    await client.dispose();
  });

  test('while a server starts, ends it too', async (t) => {
    const { call, client } = serve(t, { a: scripted('never starts') });
    const waiting = assert.rejects(call('a.pid'), /: Filechat is closing\.$/);
    // One turn of the event loop, so that the start has begun.
    await new Promise(setImmediate);
    await client.dispose();
    await waiting;
  });
});
