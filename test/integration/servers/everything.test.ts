/** The reference server with the whole client: its lists, requests, notifications and cancellations. */

import assert from 'node:assert/strict';
import { after, describe, test } from 'node:test';
import { gunzipSync } from 'node:zlib';
import { FolderAssets } from '../../../src/assets/store.ts';
import { terminalRequests } from '../../../src/cli/terminal.ts';
import type { ToolProgress } from '../../../src/ports/tools.ts';
import { until } from '../../kit/until.ts';
import { CHAT, connect, nextChange, SERVER } from '../helpers/everything.ts';
import { FakeModel, TOOLS, WillingUser } from '../helpers/everythingTools.ts';
import { fromNpm } from '../helpers/serving.ts';

describe('server-everything over stdio', { concurrency: 1 }, () => {
  const user = new WillingUser();
  const { elicited, askedBy, model } = user;
  const { client, call, show, logged } = connect(
    { after },
    { ...fromNpm('@modelcontextprotocol/server-everything', 'stdio'), env: { GIVEN: 'yes' } },
    user,
  );

  test('lists exactly the tools of the table', async () => {
    const { tools, failures, instructions } = await client.listTools();
    assert.deepEqual(failures, []);
    assert.deepEqual(tools.map(({ tool }) => tool).sort(), Object.keys(TOOLS).sort());
    assert.match(instructions?.[0]?.text ?? '', /Everything Server/);
    assert.equal(tools.find(({ tool }) => tool === 'simulate-research-query')?.task, 'required');
    const state = (await client.states()).get(SERVER);
    assert.equal(state?.kind, 'ready');
    const all = {
      tools: true,
      resources: true,
      subscriptions: true,
      prompts: true,
      completions: true,
      logging: true,
    };
    assert.deepEqual(state.about.offers, all);
  });

  for (const [tool, { args = {}, shows }] of Object.entries(TOOLS)) {
    test(`${tool} has the expected result`, async () => {
      const { result, markdown } = await call(tool, args);
      assert.equal(result.isError, false, markdown);
      assert.match(markdown, shows);
      assert.ok(!result.parts.some(({ kind }) => kind === 'problem'), markdown);
    });
  }

  test('sampling reaches the model with the request of the server, for the calling chat', () => {
    const [request] = model.asked;
    assert.equal(model.asked.length, 1);
    assert.equal(request?.system, 'You are a helpful test server.');
    assert.equal(request.maxTokens, 7);
    assert.match(JSON.stringify(request.messages), /context: How high\?/);
    assert.deepEqual(askedBy.at(-2), { server: SERVER, chats: [CHAT] });
  });

  test('the elicitations are a form and a URL', () => {
    assert.deepEqual(
      elicited.map(({ kind }) => kind),
      ['form', 'url'],
    );
    assert.deepEqual(elicited[1], {
      kind: 'url',
      message: 'Please open the link to complete this action.',
      url: 'https://example.com/pay',
      id: 'e1',
    });
  });

  test('the tiny image and the packed file are complete', async () => {
    const image = await call('get-tiny-image');
    assert.equal((await image.asset(0)).subarray(1, 4).toString(), 'PNG');
    const packed = await call('gzip-file-as-resource', TOOLS['gzip-file-as-resource']?.args);
    assert.equal(gunzipSync(await packed.asset(0)).toString(), 'packed');
  });

  test('an error of the server is a result with isError', async () => {
    const { result, markdown } = await call('get-sum', { a: 'x' });
    assert.equal(result.isError, true);
    assert.match(markdown, /Invalid arguments for tool get-sum/);
  });

  test('changed roots are announced, and requested', async () => {
    user.folders = [...user.folders, { uri: 'file:///second', name: 'second' }];
    const told = logged.next(/Roots updated: 2 root\(s\) received/);
    client.rootsChanged();
    await told;
    assert.match(await show('get-roots-list'), /Current MCP Roots \(2 total\)[\s\S]*2\. second/);
  });

  test('a long call reports its progress', async () => {
    const seen: ToolProgress[] = [];
    await call(
      'trigger-long-running-operation',
      { duration: 0.3, steps: 3 },
      {
        onProgress: (progress) => seen.push(progress),
      },
    );
    assert.deepEqual(
      seen,
      [1, 2, 3].map((done) => ({ done, total: 3 })),
    );
  });

  const cancelled: Readonly<Record<string, Readonly<Record<string, unknown>>>> = {
    'trigger-long-running-operation': { duration: 600, steps: 6000 },
    'simulate-research-query': { topic: 'tides' },
  };
  for (const [tool, args] of Object.entries(cancelled)) {
    test(`${tool} ends when it is cancelled, and the server keeps running`, async () => {
      const abort = new AbortController();
      const reason = new Error('enough');
      const onProgress = () => abort.abort(reason);
      await assert.rejects(
        call(tool, args, { onProgress, signal: abort.signal }),
        (error) => error === reason,
      );
      assert.match(await show('echo', { message: 'still here' }), /still here/);
    });
  }

  test('a task requests input and continues with the answer', async () => {
    elicited.length = 0;
    const told: (string | undefined)[] = [];
    const { markdown } = await call(
      'simulate-research-query',
      { topic: 'python', ambiguous: true },
      { onProgress: ({ message }) => told.push(message) },
    );
    assert.match(markdown, /^# Research Report: python \(snake\)$/m);
    assert.deepEqual(
      elicited.map(({ kind }) => kind),
      ['form'],
    );
    assert.match(elicited[0]?.message ?? '', /"python" could have multiple interpretations/);
    for (const message of told) assert.match(message ?? '', /^[A-Z][a-z]+ [a-z]+/);
    assert.ok(told.some((message) => message?.startsWith('Found multiple interpretations')));
  });

  test('resources and templates are listed, read, and completed', async () => {
    const { resources, templates, failure } = await client.listResources(SERVER);
    assert.equal(failure, undefined);
    assert.ok(resources.some(({ uri }) => uri === 'demo://resource/static/document/architecture.md'));
    assert.deepEqual(templates.map(({ uriTemplate }) => uriTemplate).sort(), [
      'demo://resource/dynamic/blob/{resourceId}',
      'demo://resource/dynamic/text/{resourceId}',
    ]);
    const uri = 'demo://resource/dynamic/text/7';
    const read = await client.fetchResource({ server: SERVER, uri }, { maxBytes: 1000 });
    assert.match(String(read[0]?.data), /^Resource 7: This is a plaintext resource/);
    const of = { kind: 'template', uriTemplate: 'demo://resource/dynamic/text/{resourceId}' } as const;
    const complete = (value: string) =>
      client.complete({ server: SERVER, of, argument: 'resourceId', value });
    assert.deepEqual([await complete('12'), await complete('x')], [['12'], []]);
    await assert.rejects(
      client.fetchResource({ server: SERVER, uri: 'demo://none' }, { maxBytes: 9 }),
      /not found/,
    );
  });

  test('a subscribed resource reports changes, until the subscription is disposed', async () => {
    const uri = 'demo://resource/dynamic/text/1';
    // On since the table; off and on again, it reports at once instead of every five seconds.
    await show('toggle-subscriber-updates');
    const known = logged.next(
      /Received Subscribe Resource request for URI: demo:\/\/resource\/dynamic\/text\/1/,
    );
    const { promise: updated, resolve } = Promise.withResolvers<void>();
    const subscription = client.subscribe({ server: SERVER, uri }, resolve);
    await known;
    await show('toggle-subscriber-updates');
    await updated;
    const forgotten = logged.next(
      /Received Unsubscribe Resource request: demo:\/\/resource\/dynamic\/text\/1/,
    );
    subscription.dispose();
    await forgotten;
  });

  test('a new resource of the session is reported as a change of the list', async () => {
    const changed = nextChange(client, 'resources');
    await show('gzip-file-as-resource', { name: 'new.gz', data: 'data:text/plain,new' });
    await changed;
    const { resources } = await client.listResources(SERVER);
    assert.ok(resources.some(({ uri }) => uri.endsWith('new.gz')));
  });

  test('prompts are listed, completed, and filled in', async () => {
    const { prompts, failure } = await client.listPrompts(SERVER);
    assert.equal(failure, undefined);
    assert.deepEqual(
      prompts.map(({ prompt, arguments: args }) => [
        prompt,
        args.map(({ name, required }) => [name, required]),
      ]),
      [
        ['simple-prompt', []],
        [
          'args-prompt',
          [
            ['city', true],
            ['state', false],
          ],
        ],
        [
          'completable-prompt',
          [
            ['department', true],
            ['name', true],
          ],
        ],
        [
          'resource-prompt',
          [
            ['resourceType', true],
            ['resourceId', true],
          ],
        ],
      ],
    );
    const of = { kind: 'prompt', prompt: 'completable-prompt' } as const;
    const complete = (argument: string, value: string, others?: Readonly<Record<string, string>>) =>
      client.complete({ server: SERVER, of, argument, value, ...(others ? { others } : {}) });
    assert.deepEqual(await complete('department', 'S'), ['Sales', 'Support']);
    assert.deepEqual(await complete('name', '', { department: 'Sales' }), ['David', 'Eve', 'Frank']);
    assert.deepEqual(await complete('name', 'A'), []);
  });

  const filled: readonly (readonly [string, Readonly<Record<string, string>>, RegExp])[] = [
    ['simple-prompt', {}, /^user: This is a simple prompt without arguments\.$/],
    ['args-prompt', { city: 'Oslo' }, /^user: What's weather in Oslo\?$/],
    [
      'completable-prompt',
      { department: 'Sales', name: 'Eve' },
      /^user: Please promote Eve to the head of the Sales/,
    ],
    [
      'resource-prompt',
      { resourceType: 'Text', resourceId: '5' },
      /^user: This prompt[\s\S]*\nuser: [\s\S]*Resource 5: This/,
    ],
  ];
  for (const [prompt, args, expected] of filled) {
    test(`the prompt ${prompt} is returned with its arguments filled in`, async () => {
      const assets = new FolderAssets({ folder: '/nowhere' }).beginResult();
      const { messages } = await client.getPrompt({ server: SERVER, prompt, arguments: args }, { assets });
      const text = messages.map(
        ({ role, parts }) => `${role}: ${parts.map((part) => JSON.stringify(part)).join()}`,
      );
      assert.match(text.join('\n').replaceAll(/\{"kind":"text","text":"(.*?)".*?\}/g, '$1'), expected);
    });
  }

  test('a prompt with missing arguments names them', async () => {
    const assets = new FolderAssets({ folder: '/nowhere' }).beginResult();
    const asked = client.getPrompt({ server: SERVER, prompt: 'args-prompt', arguments: {} }, { assets });
    await assert.rejects(asked, /Invalid arguments for prompt args-prompt/);
  });

  test('the log level is applied', async () => {
    await client.setLogLevel(SERVER, 'emergency');
    // Off and on again, it logs one message at once, which must not be below the level.
    logged.lines.length = 0;
    await show('toggle-simulated-logging');
    await show('toggle-simulated-logging');
    await show('echo', { message: 'x' });
    assert.doesNotMatch(
      logged.lines.join('\n'),
      /(Debug|Info|Notice|Warning|Error|Critical)-level message|Alert level/,
    );
    await client.setLogLevel(SERVER, 'debug');
    const told = logged.next(/-level message|level-message/);
    await show('toggle-simulated-logging');
    await show('toggle-simulated-logging');
    await told;
  });

  test('a required URL is visited, and awaited until the user stops', async () => {
    elicited.length = 0;
    const abort = new AbortController();
    const args = { url: 'https://example.com/pay', errorPath: true };
    const reason = new Error('I am done');
    const waiting = call('trigger-url-elicitation', args, { signal: abort.signal });
    await until(() => elicited.length > 0);
    // This server never reports completion.
    abort.abort(reason);
    await assert.rejects(waiting, (error) => error === reason);
    assert.deepEqual(
      elicited.map((each) => each.kind === 'url' && each.url),
      ['https://modelcontextprotocol.io'],
    );
    assert.match(await show('trigger-url-elicitation', args), /User completed the URL elicitation flow/);
  });
});

describe('server-everything with a user who declines, on the terminal', () => {
  const shown: string[] = [];
  const model = new FakeModel();
  const careful = () =>
    terminalRequests({
      approve: 'ask',
      roots: [],
      err: (text) => shown.push(text),
      ask: async (question) => {
        shown.push(question);
        return 'n';
      },
      modelFor: async () => model,
    });
  const everything = fromNpm('@modelcontextprotocol/server-everything', 'stdio');
  const { show, call } = connect({ after }, everything, careful());

  for (const url of ['javascript:alert(1)', 'https://169.254.169.254/latest', 'http://evil.example/']) {
    test(`fault 41: ${url} is declined without asking`, async () => {
      shown.length = 0;
      assert.match(await show('trigger-url-elicitation', { url }), /User declined to open the URL/);
      assert.equal(shown.length, 1);
      assert.match(
        shown[0] ?? '',
        /^The server everything asked you to open an address, which was declined\. /,
      );
    });
  }

  test('after three refusals in a row, the server is not heard', async () => {
    shown.length = 0;
    const { markdown } = await call('trigger-sampling-request', { prompt: 'x' });
    assert.match(markdown, /The user declined 3 requests in a row\./);
    assert.deepEqual([shown, model.asked], [[], []]);
  });

  test('a declined sampling request does not reach the model', async () => {
    const fresh = connect({ after }, everything, careful());
    const { result, markdown } = await fresh.call('trigger-sampling-request', { prompt: 'x' });
    assert.equal(result.isError, true);
    assert.match(markdown, /The user declined\./);
    assert.deepEqual(model.asked, []);
  });

  test('an empty list of roots is a valid answer', async () =>
    assert.match(await show('get-roots-list'), /no roots are currently configured/));
});
